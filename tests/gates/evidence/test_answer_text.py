from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.findings import Span


def test_each_sign_belongs_to_one_claim_only() -> None:
    text = "Am 3. Mai 2024 um 14:00 kam v2.1.0 mit 12 Neuerungen, montags."
    answer = AnswerText(text, [Span(0, len(text))])

    assert [code.text for code in answer.codes] == ["v2.1.0"]
    assert [date.label for date in answer.dates] == ["2024-05-03"]
    assert [time.label for time in answer.clock_times] == ["14:00"]
    assert [one.value for one in answer.quantities] == [12]
    assert [one.number for one in answer.weekdays] == [0]
    assert len(answer.plain) == len(text)


def test_measure_of_two_parts_takes_their_place() -> None:
    answer = AnswerText("2 Stunden 9 Minuten und 5 kg", [])

    assert sorted(one.value for one in answer.quantities) == [5, 129]


def test_surroundings_are_the_sentence_or_what_is_near() -> None:
    text = "One. " + "a" * 2000
    answer = AnswerText(text, [Span(0, 5), Span(5, len(text))])

    assert answer.around(2) == "One. "
    assert answer.around(1000) == "a" * 600
    assert AnswerText(text, []).around(3) == ""
