from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.imitation.answer import Answer, CallMade, Part
from tests.fakes.imitation import text_of

CALL = CallMade("call-1", "weather", '{"city": "Marren"}')


def test_tokens_come_in_the_order_of_a_stream() -> None:
    answer = Answer("Hello there.", "Well. ", (CALL,), "tool_calls")

    tokens = list(answer.tokens())

    assert text_of(tokens, Part.REASONING) == "Well. "
    assert text_of(tokens, Part.CONTENT) == "Hello there."
    assert text_of(tokens, Part.CALL) == CALL.arguments
    parts = [token.part for token in tokens]
    assert parts == sorted(parts, key=list(Part).index)


def test_empty_answer_is_one_token() -> None:
    assert len(list(Answer("").tokens())) == 1


@given(st.text(min_size=1, max_size=60), st.text(max_size=60), st.integers(1, 80))
def test_limit_cuts_and_says_so(content: str, reasoning: str, limit: int) -> None:
    answer = Answer(content, reasoning)
    total = len(list(answer.tokens()))

    cut = answer.limited(limit)

    assert len(list(cut.tokens())) == min(limit, total)
    assert cut.finish_reason == ("length" if limit < total else "stop")
    assert content.startswith(cut.content or "")
    assert reasoning.startswith(cut.reasoning)


def test_call_may_be_cut_in_its_midst() -> None:
    cut = Answer(None, "", (CALL,), "tool_calls").limited(3)

    assert cut.finish_reason == "length"
    assert CALL.arguments.startswith(cut.calls[0].arguments)
    assert cut.content is None


def test_no_limit_changes_nothing() -> None:
    answer = Answer("Hello")

    assert answer.limited(None) is answer
