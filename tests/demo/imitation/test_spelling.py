from proxy.demo.imitation.answer import Answer, CallMade, Part, Token
from proxy.demo.imitation.spelling import Envelope, delta_of, error, models, usage
from proxy.demo.imitation.tokens import token_id

CHAT = Envelope("chatcmpl-1", "imitation-mtp1", 1000, chat=True)
TEXT = Envelope("cmpl-1", "imitation-mtp1", 1000, chat=False)
CALLS = (CallMade("call-1", "weather", "{}"),)


def test_chunk_carries_its_delta_and_the_ids_that_were_asked_for() -> None:
    token = Token(Part.CONTENT, "Hi")

    chunk = CHAT.chunk({"content": "Hi"}, [token])

    assert chunk["object"] == "chat.completion.chunk"
    assert chunk["system_fingerprint"] == "imitation-mtp1"
    choice = chunk["choices"][0]
    assert (choice["delta"], choice["token_ids"]) == ({"content": "Hi"}, [token_id("Hi")])
    assert "token_ids" not in CHAT.chunk({})["choices"][0]


def test_completion_carries_text() -> None:
    assert TEXT.chunk({"content": "Hi"})["choices"][0]["text"] == "Hi"
    assert TEXT.whole(Answer("Hi"), usage(1, 2), None)["choices"][0]["text"] == "Hi"


def test_delta_may_hold_reasoning_and_content_at_once() -> None:
    tokens = [Token(Part.REASONING, "so."), Token(Part.CONTENT, "Hi")]

    assert delta_of(tokens, Answer("Hi"), set()) == {"reasoning": "so.", "content": "Hi"}


def test_name_of_a_call_is_sent_once() -> None:
    answer, told = Answer(None, "", CALLS), set[int]()
    first, second = Token(Part.CALL, ""), Token(Part.CALL, "{}")

    named, more = delta_of([first], answer, told), delta_of([second], answer, told)

    assert named["tool_calls"][0]["function"] == {"name": "weather", "arguments": ""}
    assert named["tool_calls"][0]["id"] == "call-1"
    assert more["tool_calls"] == [{"index": 0, "function": {"arguments": "{}"}}]


def test_whole_reply_has_the_message_and_what_it_used() -> None:
    answer = Answer(None, "Well.", CALLS, "tool_calls")

    document = CHAT.whole(answer, usage(5, 7), [1, 2])

    choice = document["choices"][0]
    assert choice["message"]["reasoning"] == "Well."
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "weather"
    assert (choice["finish_reason"], choice["token_ids"]) == ("tool_calls", [1, 2])
    assert document["usage"]["total_tokens"] == 12


def test_usage_chunk_has_no_choice() -> None:
    assert CHAT.usage_chunk(usage(1, 1))["choices"] == []


def test_errors_are_typed_as_vllm_types_them() -> None:
    assert error("no", 404)["error"]["type"] == "NotFoundError"
    assert error("no", 500)["error"]["code"] == 500


def test_models_say_who_owns_it() -> None:
    card = models("imitation-mtp1", 1000, 4096)["data"][0]

    assert (card["id"], card["max_model_len"]) == ("imitation-mtp1", 4096)
    assert card["owned_by"] == "sluicegate-imitation"
