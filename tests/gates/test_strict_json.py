import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.gates.strict_json import ContentRepair, StrictJsonGate, StrictJsonOptions
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request, read_request

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "population": {"type": "integer"},
        "prüfstatus": {"enum": ["geprüft", "offen"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
GOOD = '{"city":"Ulm","population":126949}'


def _request(schema: object = CITY, **members: object) -> Request:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return read_request(json.dumps({"response_format": wanted, **members}).encode())


def _gate(*repairs: Repair, **options: Any) -> StrictJsonGate:
    return StrictJsonGate(StrictJsonOptions(repair=repairs, **options))


def _choice(content: str | None, index: int = 0, finish_reason: str = "stop") -> Choice:
    return Choice(index, content, finish_reason=finish_reason)


def _judge(
    content: str | None, *repairs: Repair, reasoning: str = "", finish_reason: str = "stop"
) -> Verdict:
    choice = Choice(0, content, reasoning=reasoning, finish_reason=finish_reason)
    return _gate(*repairs).judge(Reply((choice,)), _request())


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(f"\n\n{GOOD}\n", id="blanks-around"),
        pytest.param('{"population": 1, "city": ""}', id="other-order"),
        pytest.param('{"city":"x","population":126949.0}', id="integer-with-a-point"),
        pytest.param('{"city":"x","population":1e3}', id="integer-with-an-exponent"),
        pytest.param('{"city":"\\ud83d\\ude80 \\u00fc \\/"}', id="escapes"),
        pytest.param(
            '{"city":"x","pr\\u00fcfstatus":"gepr\\u00fcft"}', id="escaped-key-and-member"
        ),
        pytest.param('{"city":"{{ ```json <think> NaN"}', id="junk-in-a-string"),
    ],
)
def test_strict_answer_that_fits_passes(content: str) -> None:
    assert _judge(content) == Verdict("strict_json", Result.PASS)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        pytest.param('{{"city":"Ulm"}', Fault.LEADING_JUNK, id="doubled-brace"),
        pytest.param('{{ "city": "Ulm" }', Fault.LEADING_JUNK, id="doubled-brace-default-blanks"),
        pytest.param('{"{"city": "Ulm"}', Fault.LEADING_JUNK, id="doubled-brace-and-quote"),
        pytest.param('\n\n{"{"city": "Ulm"}', Fault.LEADING_JUNK, id="doubled-after-blank-line"),
        pytest.param('{"city{"city": "Ulm"}', Fault.LEADING_JUNK, id="doubled-key"),
        pytest.param('("city":"Ulm"}', Fault.LEADING_JUNK, id="stray-bracket"),
        pytest.param(f"```json\n{GOOD}\n```", Fault.LEADING_JUNK, id="fence"),
        pytest.param(f"</think>{GOOD}", Fault.LEADING_JUNK, id="think-tag"),
        pytest.param(f"{GOOD} done", Fault.TRAILING_JUNK, id="trailing"),
        pytest.param('{"city":"\\ud83d"}', Fault.BAD_STRING, id="half-a-pair"),
        pytest.param('{"city":"a","city":"a"}', Fault.DUPLICATE_KEY, id="duplicate"),
        pytest.param('{"city":"a","population":NaN}', Fault.NOT_FINITE, id="nan"),
        pytest.param('{"city":"a","population":1' + "0" * 100, Fault.NUMBER_RUNAWAY, id="digits"),
        pytest.param('{"city":' + " \n" * 40, Fault.WHITESPACE_RUNAWAY, id="blanks"),
        pytest.param("[" * 65, Fault.TOO_DEEP, id="depth"),
        pytest.param('{"city":"a"', Fault.UNFINISHED, id="unfinished"),
        pytest.param('{"city":"a";}', Fault.NOT_JSON, id="not-json"),
        pytest.param(None, Fault.EMPTY_CONTENT, id="null"),
    ],
)
def test_answer_that_is_no_strict_document_fails(content: str | None, fault: Fault) -> None:
    verdict = _judge(content)

    assert (verdict.result, verdict.fault) == (Result.FAIL, fault)
    assert verdict.place == "choices[0].message.content"
    assert verdict.reason.startswith("choices[0].message.content is not one strict JSON document: ")
    assert verdict.feedback.endswith("no Markdown.")


def test_size_limit_of_the_policy_holds() -> None:
    verdict = _gate(max_bytes=20).judge(Reply((_choice(GOOD),)), _request())

    assert verdict.fault is Fault.TOO_LARGE


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"city":"x","population":"viele"}', "#/population"),
        ('{"city":"x","population":1.5}', "#/population"),
        ('{"city":"x","population":true}', "#/population"),
        ('{"city":"x","prüfstatus":"nein"}', "#/prüfstatus"),
        ('{"city":"x","land":"y"}', ""),
        ("{}", ""),
        ("[]", ""),
    ],
)
def test_violation_names_its_place(content: str, place: str) -> None:
    verdict = _judge(content)

    assert verdict.fault is Fault.SCHEMA_VIOLATION
    assert verdict.place == f"choices[0].message.content{place}"
    assert verdict.reason.startswith(f"{verdict.place} ")


def test_reason_is_for_the_client_and_feedback_for_the_model() -> None:
    verdict = _judge('{"city":"x","population":"viele"}')

    assert verdict.reason == ("choices[0].message.content#/population is a string, not integer.")
    assert verdict.feedback == (
        "/population is a string, not integer. Answer again with only the JSON document: "
        "nothing before it, nothing after it, no Markdown."
    )


@pytest.mark.parametrize(
    "content", ['{"city":"x","' + "geheim" * 99 + '":1}', "geheim" * 99, '["' + "geheim" * 99]
)
def test_answer_is_never_quoted_at_length(content: str) -> None:
    verdict = _judge(content)

    assert verdict.result is Result.FAIL
    assert verdict.reason.count("geheim") < 15
    assert verdict.feedback.count("geheim") < 15


def test_token_limit_is_not_blamed_on_the_schema() -> None:
    assert _judge('{"city":"Die Sitz', finish_reason="length").fault is Fault.TRUNCATED
    assert _judge(GOOD, finish_reason="length").result is Result.PASS


def test_document_in_the_reasoning_is_a_fault_of_its_own() -> None:
    assert _judge(None, reasoning=GOOD).fault is Fault.IN_REASONING


def test_object_mode_accepts_any_object_and_nothing_else() -> None:
    request = read_request(b'{"response_format":{"type":"json_object"}}')

    passed = _gate().judge(Reply((_choice('{"x":[1]}'),)), request)
    failed = _gate().judge(Reply((_choice("[1]"),)), request)

    assert passed.result is Result.PASS
    assert failed.fault is Fault.SCHEMA_VIOLATION
    assert failed.reason == "choices[0].message.content is not an object."


def test_without_a_schema_any_document_passes() -> None:
    verdict = _gate().judge(Reply((_choice("[1]"),)), _request(schema=None))

    assert verdict.result is Result.PASS


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(Choice(0, None, refusal="I cannot."), id="refusal"),
        pytest.param(Choice(0, '{"ci', finish_reason="content_filter"), id="content-filter"),
        pytest.param(
            Choice(0, "Let me look.", tool_calls=(ToolCall(0, "c1", "look", "{}"),)), id="tool-call"
        ),
    ],
)
def test_answer_that_promises_no_document_is_skipped(choice: Choice) -> None:
    assert _gate().judge(Reply((choice,)), _request()).result is Result.SKIP


def test_reply_with_an_error_object_and_other_requests_are_skipped() -> None:
    assert _gate().judge(Reply(error='{"message":"x"}'), _request()).result is Result.SKIP
    assert _gate().judge(Reply((_choice("Hi"),)), Request(b"{}")).result is Result.SKIP


def test_reply_without_choices_is_empty() -> None:
    verdict = _gate().judge(Reply(), _request())

    assert (verdict.fault, verdict.place) == (Fault.EMPTY_CONTENT, "choices")


def test_every_choice_is_judged_and_the_first_that_fails_decides() -> None:
    choices = (_choice(GOOD), _choice("{}", 1), _choice("{{", 2), Choice(3, None, refusal="No."))

    verdict = _gate().judge(Reply(choices), _request())
    passed = _gate().judge(Reply((choices[0], choices[3])), _request())

    assert verdict.place == "choices[1].message.content"
    assert passed.result is Result.PASS


@pytest.mark.parametrize(
    ("content", "repairs"),
    [
        (f"```json\n{GOOD}\n```\n", (Repair.UNWRAP_FENCE,)),
        (f"<think>Hm.</think>\n{GOOD}", (Repair.DROP_THINK_TAG,)),
        (f"</think>```\n{GOOD}\n```", (Repair.DROP_THINK_TAG, Repair.UNWRAP_FENCE)),
    ],
)
def test_allowed_repair_passes_with_the_document_alone(
    content: str, repairs: tuple[Repair, ...]
) -> None:
    verdict = _judge(content, *get_args(ContentRepair))

    assert verdict.result is Result.PASS
    assert verdict.repaired == {0: Repaired(GOOD, repairs)}


def test_document_is_taken_from_the_reasoning_when_allowed() -> None:
    verdict = _judge(None, Repair.JSON_FROM_REASONING, reasoning=f"{GOOD}\n")

    assert verdict.repaired == {0: Repaired(GOOD, (Repair.JSON_FROM_REASONING,))}


@pytest.mark.parametrize(
    ("content", "reasoning", "fault"),
    [
        pytest.param("```json\n{}\n```", "", Fault.LEADING_JUNK, id="does-not-fit"),
        pytest.param('```json\n{"city":1,}\n```', "", Fault.LEADING_JUNK, id="is-broken"),
        pytest.param(None, "{}", Fault.IN_REASONING, id="reasoning-does-not-fit"),
        pytest.param(None, "So.", Fault.EMPTY_CONTENT, id="reasoning-is-prose"),
    ],
)
def test_repair_that_does_not_help_leaves_the_original_fault(
    content: str | None, reasoning: str, fault: Fault
) -> None:
    verdict = _judge(content, *get_args(ContentRepair), reasoning=reasoning)

    assert verdict.fault is fault
    assert verdict.repaired == {}


def test_repairs_of_all_choices_are_told() -> None:
    choices = tuple(_choice(f"```\n{GOOD}\n```", index) for index in range(2))

    verdict = _gate(Repair.UNWRAP_FENCE).judge(Reply((*choices, _choice(GOOD, 2))), _request())

    assert sorted(verdict.repaired) == [0, 1]


def test_schema_that_cannot_be_applied_is_an_error_not_a_fault() -> None:
    choice = _choice("1" + "0" * 400)

    verdict = _gate(max_integer_digits=4_000).judge(Reply((choice,)), _request({"multipleOf": 0.5}))

    assert verdict.result is Result.ERROR
    assert verdict.fault is None
    assert verdict.reason.startswith("The schema cannot be applied to choices[0].message.content")


def test_fail_of_one_choice_outweighs_the_error_of_another() -> None:
    schema = {"$defs": {"a": {"multipleOf": 0.5}}, "items": {"$ref": "#/$defs/a"}}
    gate = _gate(max_integer_digits=4_000)
    undecided = _choice("[1" + "0" * 400 + "]")

    alone = gate.judge(Reply((undecided,)), _request(schema))
    beside = gate.judge(Reply((undecided, _choice("[0.3]", 1))), _request(schema))

    assert alone.result is Result.ERROR
    assert beside.result is Result.FAIL


def test_what_a_schema_leaves_unchecked_is_told() -> None:
    schema = {"properties": {"code": {"pattern": "(?=a)"}}}

    verdict = _gate().judge(Reply((_choice('{"code":"b"}'),)), _request(schema))

    assert verdict == Verdict(
        "strict_json", Result.PASS, unchecked=("pattern at /properties/code",)
    )


def test_gate_applies_where_json_was_promised() -> None:
    gate = _gate()

    assert gate.name == "strict_json"
    assert gate.applies(_request())
    assert gate.applies(read_request(b'{"structured_outputs":{"json_object":true}}'))
    assert not gate.applies(read_request(b'{"structured_outputs":{"regex":"a"}}'))
    assert not gate.applies(Request(b"{}"))
    with pytest.raises(InvalidRequest):
        gate.applies(_request(schema={"type": "x"}))


def test_watch_tells_the_same_as_the_verdict_on_the_whole() -> None:
    watch = _gate().watch(_request())
    assert watch is not None

    assert watch.feed(0, "\n{") is None
    assert watch.feed(0, '"{"city": ') == _judge('\n{"{"city": "Ulm"}')


def test_watch_spares_what_a_repair_could_save() -> None:
    fenced = f"```json\n{GOOD}\n```"
    lenient, strict = _gate(Repair.UNWRAP_FENCE).watch(_request()), _gate().watch(_request())
    assert lenient is not None
    assert strict is not None

    assert lenient.feed(0, fenced) is None
    assert strict.feed(0, fenced) is not None


def test_watch_spares_prose_where_a_tool_call_may_follow() -> None:
    request = replace(_request(), tools=b'[{"type":"function","function":{"name":"look"}}]')
    watch = _gate().watch(request)
    assert watch is not None

    assert watch.feed(0, "Let me look.") is None


def test_requests_without_a_promise_are_not_watched() -> None:
    assert _gate().watch(Request(b"{}")) is None


@pytest.mark.parametrize(
    "options",
    [
        {"formats": ["xml"]},
        {"repair": ["guess"]},
        {"max_depth": 0},
        {"max_depth": 5_000},
        {"max_integer_digits": 5_000},
        {"max_byte": 1},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        StrictJsonOptions.model_validate(options)


DATED: dict[str, Any] = {
    "type": "object",
    "properties": {"day": {"type": "string", "format": "date"}},
}


def test_format_is_an_annotation_by_default() -> None:
    reply = Reply((_choice('{"day":"tomorrow"}'),))

    assert _gate().judge(reply, _request(DATED)).result is Result.PASS


def test_asserted_format_is_a_part_of_the_schema() -> None:
    gate = _gate(check_formats=("date",))

    verdict = gate.judge(Reply((_choice('{"day":"tomorrow"}'),)), _request(DATED))
    right = gate.judge(Reply((_choice('{"day":"2026-01-31"}'),)), _request(DATED))

    assert verdict.fault is Fault.SCHEMA_VIOLATION
    assert verdict.place == "choices[0].message.content#/day"
    assert verdict.reason.endswith('#/day does not satisfy format "date".')
    assert right.result is Result.PASS
