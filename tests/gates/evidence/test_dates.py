import re

import pytest

from proxy.gates.evidence.dates import clock_times, dates, weekday_of, weekdays


def found(text: str) -> list[tuple[str, str]]:
    words = set(re.findall(r"[^\W\d_]+", text))
    return [(text[one.start : one.end], one.label) for one in dates(text, words)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("am 5. Oktober 2024", [("5. Oktober 2024", "2024-10-05")]),
        ("on the 5th of October", [("5th of October", "?-10-05")]),
        ("October 5, 2024", [("October 5, 2024", "2024-10-05")]),
        ("August 31st", [("August 31st", "?-08-31")]),
        ("Oct. 2024", [("Oct. 2024", "2024-10-?")]),
        ("im Mai 2020", [("Mai 2020", "2020-05-?")]),
        ("2024-11-19T14:00", [("2024-11-19", "2024-11-19")]),
        ("2024-11", [("2024-11", "2024-11-?")]),
        ("5.10.2024", [("5.10.2024", "2024-10-05")]),
        ("05.10.68", [("05.10.68", "1968-10-05")]),
        ("05.10.24", [("05.10.24", "2024-10-05")]),
        ("am 3., 10. und 17. März", [("3", "?-03-03"), ("10", "?-03-10"), ("17. März", "?-03-17")]),
        ("am 3.5 Mai", []),
        ("2024-05-03 Mai", [("2024-05-03", "2024-05-03")]),
        ("seit Oktober", [("Oktober", "?-10-?")]),
        ("in May we may march on", []),
        ("13/14/2024", []),
        ("31/12/2024", [("31/12/2024", "2024-12-31")]),
        ("no date here", []),
        ("Mai 5.5 Prozent", []),
    ],
)
def test_dates_are_read_in_all_their_forms(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_list_of_days_has_an_end() -> None:
    days = ", ".join(f"{day}." for day in range(1, 20))

    assert len(found(f"{days} und 20. Mai")) == 9


def test_slashes_may_mean_either_order() -> None:
    (date,) = dates("10/05/2024", set())

    assert set(date.readings) == {(2024, 5, 10), (2024, 10, 5)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("um 14.00 Uhr", ["14:00"]),
        ("14 Uhr 30", ["14:30"]),
        ("14 Uhr", ["14:00"]),
        ("2 pm, 2:30 p.m., 12 am", ["14:00", "14:30", "00:00"]),
        ("18:40 bis 19:25", ["18:40", "19:25"]),
        ("2024-11-19T14:05:00Z", ["14:05"]),
        ("3:45:10", ["03:45"]),
        ("7.02 Meter, 1:250, 99:10", []),
        ("25:10 at 5 o'clock", ["05:00"]),
        ("nothing", []),
    ],
)
def test_times_of_day_are_read_in_all_their_forms(text: str, expected: list[str]) -> None:
    assert [one.label for one in clock_times(text)] == expected


def test_weekdays_are_read_in_both_languages() -> None:
    assert [one.number for one in weekdays("montags, on Sunday, Dienstag")] == [0, 6, 1]


def test_weekday_follows_from_a_date_that_exists() -> None:
    assert weekday_of(2024, 5, 3) == 4
    assert weekday_of(2024, 2, 30) is None
