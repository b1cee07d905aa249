from proxy.gates.evidence.months import MONTHS, WEEKDAY, WEEKDAYS


def test_all_months_and_weekdays_have_names_in_both_languages() -> None:
    assert sorted(set(MONTHS.values())) == list(range(1, 13))
    assert sorted(set(WEEKDAYS.values())) == list(range(7))
    assert MONTHS["märz"] == MONTHS["march"] == 3
    assert WEEKDAYS["sonnabend"] == WEEKDAYS["saturday"] == 5


def test_longer_names_come_first_in_the_pattern() -> None:
    lengths = [len(name) for name in WEEKDAY.split("|")]

    assert lengths == sorted(lengths, reverse=True)
