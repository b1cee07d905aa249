from dataclasses import dataclass

from proxy.gates.questions import CountTokens


@dataclass(frozen=True, slots=True)
class _MarkedQuestion(CountTokens):
    mark: str = ""


def test_gate_may_ask_by_a_subclass_that_holds_what_the_answer_is_for() -> None:
    question = _MarkedQuestion(("ein Text",), "titel")

    match question:
        case CountTokens(texts):
            assert texts == ("ein Text",)
    assert question.mark == "titel"
