import json
from typing import Any

import pytest

from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Repair, Result
from proxy.gates.length import LIGHT_CHARACTERS, LengthGate
from proxy.gates.length_options import LengthOptions
from proxy.gates.questions import CountTokens, TokenCounts, Unanswered
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request

PLAIN = Request(b"{}", messages=b"[]")
JSON = Request(b"{}", messages=b"[]", response_format=b'{"type":"json_object"}')
TEXT = {"of": "text", "unit": "graphemes", "min": 5, "max": 20}
TOKENS = {"of": "text", "unit": "tokens", "min": 2, "max": 4}
TITLE = {"of": "$.titel", "unit": "words", "min": 2, "max": 4}


def _gate(*targets: dict[str, Any], light: bool = False, **options: Any) -> LengthGate:
    made = LengthOptions.model_validate({"targets": targets, **options})
    return LengthGate(made, LIGHT_CHARACTERS if light else None)


def _reply(*contents: str | None, finish_reason: str = "stop") -> Reply:
    choices = (
        Choice(index, content, finish_reason=finish_reason)
        for index, content in enumerate(contents)
    )
    return Reply(tuple(choices))


@pytest.mark.parametrize(
    ("targets", "request_", "applies"),
    [
        ((TEXT,), PLAIN, True),
        ((TEXT,), JSON, False),
        ((TITLE,), PLAIN, False),
        ((TITLE,), JSON, True),
        ((TEXT, TITLE), JSON, True),
    ],
    ids=["text", "text_of_json", "field_of_text", "field", "both"],
)
def test_fields_are_for_promised_json_and_the_text_for_all_else(
    targets: tuple[dict[str, Any], ...], request_: Request, *, applies: bool
) -> None:
    assert _gate(*targets).applies(request_) is applies


def test_promise_that_cannot_be_read_is_the_clients_fault() -> None:
    broken = Request(b"{}", response_format=b'{"type":7}')

    with pytest.raises(InvalidRequest):
        _gate(TEXT).applies(broken)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("Genau richtig.", None),
        ("Kurz", Fault.TOO_SHORT),
        ("Das ist zu lang für hier.", Fault.TOO_LONG),
        (" \n\u200b", Fault.BLANK),
        (None, Fault.BLANK),
    ],
    ids=["right", "short", "long", "blank", "absent"],
)
def test_text_keeps_its_limits(content: str | None, fault: Fault | None) -> None:
    verdict = _gate(TEXT).judge(_reply(content), PLAIN)

    assert verdict.fault is fault
    assert verdict.result is (Result.FAIL if fault else Result.PASS)


def test_first_choice_that_fails_decides() -> None:
    verdict = _gate(TEXT).judge(_reply("Genau richtig.", "Kurz", ""), PLAIN)

    assert (verdict.fault, verdict.place) == (Fault.TOO_SHORT, "choices[1].message.content")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(),
        Reply((Choice(0, None, refusal="no"),)),
        Reply((Choice(0, None, tool_calls=(ToolCall(0, "c", "f", "{}"),)),)),
        Reply((Choice(0, "x"),), error='{"message":"x"}'),
        _reply("kein JSON"),
        _reply('{"andere":"eins"}'),
    ],
    ids=["no_choice", "refusal", "call", "error", "no_json", "absent"],
)
def test_reply_without_a_text_to_judge_is_skipped(reply: Reply) -> None:
    assert _gate(TITLE).judge(reply, JSON).result is Result.SKIP


def test_feedback_names_every_field_at_fault() -> None:
    content = json.dumps({"titel": "eins", "tags": ["a b", "zu lang"]})
    tags = {"of": "$.tags[*]", "unit": "graphemes", "max": 3}

    verdict = _gate(TITLE, tags).judge(_reply(content), JSON)

    assert verdict.place == "choices[0].message.content#/titel"
    assert "$.titel has 1 of at least 2 words: lengthen by 1." in verdict.feedback
    assert "$.tags[1] has 7 of at most 3 characters: shorten by 4." in verdict.feedback


def test_light_gate_gives_up_on_long_replies_and_on_trimming() -> None:
    long = _gate(TEXT, light=True).judge(_reply("x" * (LIGHT_CHARACTERS + 1)), PLAIN)
    trims = _gate(TEXT, light=True, trim="sentence").judge(_reply("Ein Satz. " * 9), PLAIN)
    short = _gate(TEXT, light=True).judge(_reply("x" * LIGHT_CHARACTERS), PLAIN)

    assert (long.result, long.gave_up) == (Result.ERROR, True)
    assert (trims.result, trims.gave_up) == (Result.ERROR, True)
    assert short.fault is Fault.TOO_LONG


def test_every_choice_that_is_too_long_is_trimmed() -> None:
    reply = _reply("Erster Satz. Zweiter Satz.", "Passt genau.", "Noch einer. Und der ist lang.")

    verdict = _gate(TEXT, trim="sentence").judge(reply, PLAIN)

    assert verdict.fault is Fault.TOO_LONG
    assert {index: one.content for index, one in verdict.last_resort.items()} == {
        0: "Erster Satz.",
        2: "Noch einer.",
    }
    assert verdict.last_resort[0].repairs == (Repair.TRIM_SENTENCE,)


@pytest.mark.parametrize(
    "contents",
    [
        ("Ein Satz, der nicht vor zwanzig endet.",),
        ("Erster Satz. Zweiter Satz.", "Kurz"),
        ("Ja. Ein Satz, der nicht vor zwanzig endet.",),
    ],
    ids=["no_sentence", "other_too_short", "below_minimum"],
)
def test_what_cannot_be_put_right_in_full_is_left(contents: tuple[str, ...]) -> None:
    verdict = _gate(TEXT, trim="sentence").judge(_reply(*contents), PLAIN)

    assert verdict.result is Result.FAIL
    assert not verdict.last_resort


def test_fields_of_json_are_left() -> None:
    content = '{"titel":"Eins zwei. Drei vier fünf."}'

    verdict = _gate(TITLE, TEXT, trim="sentence").judge(_reply(content), JSON)

    assert verdict.fault is Fault.TOO_LONG
    assert not verdict.last_resort


def test_without_the_option_nothing_is_trimmed() -> None:
    verdict = _gate(TEXT).judge(_reply("Erster Satz. Zweiter Satz."), PLAIN)

    assert not verdict.last_resort


def test_texts_are_asked_for_once_nothing_else_is_wrong() -> None:
    gate = _gate(TEXT, TOKENS)

    asking, failed = (gate.judge(_reply(content), PLAIN) for content in ("Hallo du Welt", "Kurz"))

    assert isinstance(asking.question, CountTokens)
    assert asking.question.texts == ("Hallo du Welt",)
    assert failed.question is None
    assert failed.fault is Fault.TOO_SHORT


@pytest.mark.parametrize(
    ("counts", "fault", "place"),
    [
        ((2, 4), None, ""),
        ((1, 5), Fault.TOO_SHORT, "choices[0].message.content"),
        ((3, 5), Fault.TOO_LONG, "choices[1].message.content"),
    ],
)
def test_counts_settle_the_verdict(
    counts: tuple[int, ...], fault: Fault | None, place: str
) -> None:
    gate = _gate(TOKENS)
    asking = gate.judge(_reply("eins", "zwei"), PLAIN)

    verdict = gate.settle(asking, TokenCounts(counts))

    assert (verdict.fault, verdict.place, verdict.question) == (fault, place, None)


def test_no_answer_is_an_error_with_its_reason() -> None:
    gate = _gate(TOKENS)

    verdict = gate.settle(gate.judge(_reply("eins"), PLAIN), Unanswered("Nobody is there."))

    assert (verdict.result, verdict.reason) == (Result.ERROR, "Nobody is there.")


def test_answer_to_nothing_is_an_error() -> None:
    gate = _gate(TEXT)

    verdict = gate.settle(gate.judge(_reply("Genau richtig."), PLAIN), TokenCounts(()))

    assert verdict.result is Result.ERROR


def test_too_many_texts_are_not_asked_for() -> None:
    content = json.dumps({"titel": ["x"] * 33})
    gate = _gate({"of": "$.titel[*]", "unit": "tokens", "max": 4})

    verdict = gate.judge(_reply(content), JSON)

    assert verdict.result is Result.ERROR
    assert "33 texts" in verdict.reason


@pytest.mark.parametrize(
    ("request_", "options"),
    [
        (JSON, {}),
        (Request(b"{}", tools=b"[{}]"), {}),
        (PLAIN, {"trim": "sentence"}),
    ],
    ids=["json", "tools", "trim"],
)
def test_stream_that_may_yet_be_right_is_not_watched(
    request_: Request, options: dict[str, Any]
) -> None:
    assert _gate(TEXT, TITLE, **options).watch(request_) is None


def test_running_text_is_watched() -> None:
    watch = _gate(TEXT).watch(PLAIN)

    assert watch is not None
    assert watch.feed(0, "x" * 20) is None
    assert watch.feed(0, "y") is not None
