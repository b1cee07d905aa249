from itertools import pairwise

from proxy.gates.evidence.quantities import MOST_FIGURES
from proxy.gates.evidence.source_index import FIGURES, SourceIndex, value_key


def test_values_are_found_whatever_their_spelling() -> None:
    index = SourceIndex("Es waren 1'250 Stück und 0,3 Liter.")

    assert value_key(1250.0) in index.by_value
    assert value_key(0.1 + 0.2) in index.by_value


def test_measures_are_in_the_order_of_their_size() -> None:
    index = SourceIndex("2 km, 300 m, \u22125 °C, 7, 40 cm")

    assert [round(base, 2) for base, _, _ in index.by_measure["length"]] == [0.4, 300, 2000]
    assert [base for base, _ in index.measured("length", 1, 500)] == [300]
    assert list(index.measured("mass", 0, 9e9)) == []
    assert len(index.by_measure[FIGURES]) == 5
    assert index.by_measure["temperature"][0][0] == 273.15 - 5


def test_quantities_are_in_the_order_of_their_places() -> None:
    index = SourceIndex("zwei Äpfel, 3 Birnen, ½ Liter, 2 Std. 9 Min.")

    assert all(one <= after for one, after in pairwise(index.quantity_starts))
    assert index.has_all_quantities


def test_too_many_figures_are_not_all_read() -> None:
    assert not SourceIndex("1 " * MOST_FIGURES).has_all_quantities


def test_counted_things_are_told_by_the_beginning_of_their_noun() -> None:
    index = SourceIndex("412 Igel, 36 Personen und 12 Person im Jahr 2020 Personen")

    assert index.counted["perso"] == {36, 12}


def test_years_are_told_by_month_and_day() -> None:
    index = SourceIndex("am 3. Mai 2024 und im Mai 2025, am 7. Juni")

    assert index.years_by_day[5, 3] == {2024}
    assert index.years_by_day[5, None] == {2024, 2025}
    assert index.years_by_day[6, 7] == {None}


def test_small_letters_keep_their_places() -> None:
    index = SourceIndex("\u0130stanbul X1")

    assert len(index.lower) == len(index.text)
    assert index.lower.endswith("x1")
    assert SourceIndex("AB-12 c").squeezed == "ab12c"


def test_sentences_have_their_stems() -> None:
    index = SourceIndex("Die Hunde bellen. Der Hund schläft.")

    assert [len(words) for words in index.sentence_stems] == [2, 2]
    assert index.sentence_stems[0] & index.sentence_stems[1] == {"hund"}


def test_times_and_weekdays_are_read_when_asked_for() -> None:
    index = SourceIndex("Montag um 14 Uhr")

    assert [one.label for one in index.clock_times] == ["14:00"]
    assert [one.number for one in index.weekdays] == [0]
