import json
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.pattern import LIGHT_BYTES, PatternGate
from proxy.gates.pattern_options import PatternOptions
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request

CONTENT = "choices[0].message.content"
SELF = {"pattern": r"(?i)\bals (KI|Sprachmodell)\b", "reason": "Das Modell spricht über sich."}
SOURCE = {"pattern": r"(?m)^Quelle: ", "reason": "Die Quellenzeile fehlt."}
GERMAN = "Die neue Linie fährt ab Montag alle zehn Minuten vom Bahnhof ins Tal."
ENGLISH = "From Monday the new line runs every ten minutes from the station to the valley."


def _gate(**options: Any) -> PatternGate:
    return PatternGate(PatternOptions.model_validate(options))


def _asked(*contents: str, **members: Any) -> Request:
    messages = [{"role": "user", "content": content} for content in contents]
    return Request(b"", messages=json.dumps(messages).encode(), **members)


def _judge(content: str | None, gate: PatternGate, asked: Request | None = None) -> Verdict:
    reply = Reply((Choice(0, content, finish_reason="stop"),))
    return gate.judge(reply, asked or _asked("Schreib etwas."))


def test_forbidden_wording_fails_with_the_policy_s_reason() -> None:
    verdict = _judge("Als Sprachmodell kann ich das nicht.", _gate(forbid=[SELF]))

    assert (verdict.result, verdict.fault, verdict.place) == (
        Result.FAIL,
        Fault.FORBIDDEN,
        CONTENT,
    )
    assert verdict.reason == f"{CONTENT}: Das Modell spricht über sich."
    assert verdict.feedback == (
        "Das Modell spricht über sich. Do not write `Als Sprachmodell`. "
        "Write the whole answer again."
    )


def test_missing_wording_fails_with_the_policy_s_reason() -> None:
    verdict = _judge("Ulm wächst.", _gate(require=[SOURCE]))

    assert verdict.fault is Fault.REQUIRED_MISSING
    assert verdict.reason == f"{CONTENT}: Die Quellenzeile fehlt."
    assert verdict.feedback == "Die Quellenzeile fehlt. Write the whole answer again."


def test_reply_with_all_that_is_required_passes() -> None:
    gate = _gate(require=[SOURCE], forbid=[SELF], placeholders="forbid", language="de")

    assert _judge(f"{GERMAN}\nQuelle: Stadtwerke", gate) == Verdict("pattern", Result.PASS)


def test_required_wording_may_stand_in_code() -> None:
    gate = _gate(require=[{"pattern": "```python", "reason": "Ein Beispiel fehlt."}])

    assert _judge("So:\n```python\nprint(1)\n```", gate).result is Result.PASS


def test_what_the_token_limit_cut_is_told_apart() -> None:
    reply = Reply((Choice(0, "Ulm wä", finish_reason="length"),))

    verdict = _gate(require=[SOURCE]).judge(reply, _asked("Ulm?"))

    assert verdict.fault is Fault.TRUNCATED
    assert verdict.reason.endswith("(The token limit cut the reply.)")


def test_correction_names_everything_that_is_wrong() -> None:
    gate = _gate(require=[SOURCE], forbid=[SELF], placeholders="forbid", language="en")

    verdict = _judge(f"Als KI sage ich: {GERMAN} [Name einsetzen]", gate)

    assert verdict.fault is Fault.FORBIDDEN
    assert verdict.feedback == (
        "Das Modell spricht über sich. Do not write `Als KI`. "
        "Fill in `[Name einsetzen]`, or write the sentence without it. "
        "Answer in English. Die Quellenzeile fehlt. Write the whole answer again."
    )


def test_long_match_is_not_quoted_at_length() -> None:
    gate = _gate(forbid=[{"pattern": "(?s)a.*z", "reason": "Nein."}])

    verdict = _judge("a" + "b " * 500 + "z", gate)

    assert len(verdict.feedback) < 150


@pytest.mark.parametrize("in_code", [False, True])
def test_code_is_looked_into_only_where_the_policy_says_so(in_code: bool) -> None:
    gate = _gate(forbid=[{"pattern": "eval", "reason": "Kein eval.", "in_code": in_code}])

    failed = _judge("So:\n```\neval(x)\n```", gate).result is Result.FAIL

    assert failed is in_code


def test_gap_in_code_is_none() -> None:
    gate = _gate(placeholders="forbid")

    assert _judge("Schreibe `{{name}}` oder\n~~~\n[Name einsetzen]\n~~~", gate).result is (
        Result.PASS
    )


def test_gap_of_a_template_fails() -> None:
    verdict = _judge("Sehr geehrte Frau [Name einsetzen],", _gate(placeholders="forbid"))

    assert (verdict.fault, verdict.place) == (Fault.PLACEHOLDER, CONTENT)
    assert "[Name" not in verdict.reason


def test_gap_that_the_request_has_may_stay() -> None:
    asked = _asked("Kürze: Liebe Frau {{name}}, vielen Dank für Ihre Bestellung.")

    assert _judge("Danke, Frau {{name}}!", _gate(placeholders="forbid"), asked).result is (
        Result.PASS
    )


@pytest.mark.parametrize(
    ("language", "content", "fault"),
    [
        pytest.param("de", GERMAN, None, id="right"),
        pytest.param("de", ENGLISH, Fault.WRONG_LANGUAGE, id="wrong"),
        pytest.param("de", "Yes, from Monday.", None, id="too-short"),
        pytest.param(
            "de", "从星期一开始 这条新线路每十分钟从车站开往山谷", Fault.WRONG_LANGUAGE, id="script"
        ),
        pytest.param("en", f"```\n{GERMAN * 9}\n```\n{ENGLISH}", None, id="code"),
        pytest.param("as_request", GERMAN, None, id="as-request"),
        pytest.param("as_request", ENGLISH, Fault.WRONG_LANGUAGE, id="not-as-request"),
    ],
)
def test_language_of_the_reply(language: str, content: str, fault: Fault | None) -> None:
    asked = _asked("Schreibe bitte einen kurzen Satz über die neue Buslinie ins Tal.")

    verdict = _judge(content, _gate(language=language), asked)

    assert verdict.fault is fault
    if fault:
        assert verdict.reason == f"{CONTENT}: It is not in German."
        assert verdict.feedback == "Answer in German. Write the whole answer again."


def test_string_values_of_a_json_answer_are_judged() -> None:
    gate = _gate(forbid=[SELF], placeholders="forbid", language="de")
    content = json.dumps(
        {"als KI": 7, "status": "open", "teaser": f"{GERMAN} Als KI sage ich das."}
    )

    verdict = _judge(content, gate)

    assert (verdict.fault, verdict.place) == (Fault.FORBIDDEN, f"{CONTENT}#/teaser")


def test_language_of_a_json_answer_is_that_of_its_sentences() -> None:
    content = json.dumps({"status": "open and ready", "teaser": GERMAN}, ensure_ascii=False)

    assert _judge(content, _gate(language="de")).result is Result.PASS


def test_required_wording_may_stand_in_any_value() -> None:
    content = json.dumps({"titel": "Ulm", "fuss": "Quelle: Stadt"})

    assert _judge(content, _gate(require=[SOURCE])).result is Result.PASS


@pytest.mark.parametrize(
    ("choice", "result"),
    [
        (Choice(0, None, refusal="Nein."), Result.SKIP),
        (Choice(0, "Als KI", finish_reason="content_filter"), Result.SKIP),
        (Choice(0, None, tool_calls=(ToolCall(0, "a", "f", "{}"),)), Result.PASS),
        (Choice(0, "Als KI", tool_calls=(ToolCall(0, "a", "f", "{}"),)), Result.FAIL),
        (Choice(0, None), Result.FAIL),
    ],
    ids=["refusal", "filtered", "calls", "text-beside-calls", "empty"],
)
def test_only_texts_are_judged(choice: Choice, result: Result) -> None:
    gate = _gate(forbid=[SELF], require=[SOURCE])

    assert gate.judge(Reply((choice,)), _asked("Ulm?")).result is result


@pytest.mark.parametrize("reply", [Reply(), Reply((Choice(0, "x"),), error="{}")])
def test_reply_without_choices_is_skipped(reply: Reply) -> None:
    assert _gate(forbid=[SELF]).judge(reply, _asked("Ulm?")).result is Result.SKIP


def test_first_choice_that_fails_decides() -> None:
    reply = Reply((Choice(0, "gut"), Choice(1, "als KI")))

    assert _gate(forbid=[SELF]).judge(reply, _asked("Ulm?")).place == ("choices[1].message.content")


@pytest.mark.parametrize(
    ("options", "asked", "applies"),
    [
        ({}, GERMAN, False),
        ({"forbid": [SELF]}, GERMAN, True),
        ({"placeholders": "forbid"}, GERMAN, True),
        ({"language": "en"}, GERMAN, True),
        ({"language": "as_request"}, GERMAN, True),
        ({"language": "as_request"}, "Kurz!", False),
    ],
)
def test_gate_guards_what_it_can_judge(options: dict[str, Any], asked: str, applies: bool) -> None:
    assert _gate(**options).applies(_asked(asked)) is applies


def test_watch_cuts_at_a_forbidden_wording() -> None:
    watch = _gate(forbid=[SELF]).watch(_asked("Ulm?"))
    assert watch is not None

    verdict = watch.feed(0, "Als Sprachmodell kann ich das leider nicht. " + GERMAN)

    assert verdict is not None
    assert (verdict.fault, verdict.place) == (Fault.FORBIDDEN, CONTENT)


def test_watch_agrees_with_the_gate_on_a_match_that_ends_the_text() -> None:
    watch = _gate(forbid=[SELF]).watch(_asked("Ulm?"))
    assert watch is not None

    assert watch.feed(0, GERMAN + " Ein Satz als KI") is None


@pytest.mark.parametrize(
    ("options", "members"),
    [
        pytest.param({"language": "de"}, {}, id="nothing-forbidden"),
        pytest.param({"forbid": [SELF]}, {"response_format": b"{}"}, id="json"),
        pytest.param({"forbid": [SELF]}, {"structured_outputs": b"{}"}, id="structured"),
    ],
)
def test_nothing_is_watched_without_need(
    options: dict[str, Any], members: dict[str, bytes]
) -> None:
    assert _gate(**options).watch(_asked("Ulm?", **members)) is None


@pytest.mark.parametrize(
    "options",
    [
        {"language": "deutsch"},
        {"placeholders": "maybe"},
        {"forbid": [{"pattern": "(?=x)", "reason": "x"}]},
        {"forbid": ["x"]},
        {"forbidden": []},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PatternOptions.model_validate(options)


def test_light_gate_gives_up_on_long_requests() -> None:
    options = PatternOptions.model_validate({"placeholders": "forbid"})
    light = PatternGate(options, LIGHT_BYTES)
    long = _asked("Schreibe bitte einen Satz über die neue Linie. " * 1000)

    verdict = _judge("Lieber [Name],", light, long)

    assert light.applies(long)
    assert (verdict.result, verdict.gave_up) == (Result.ERROR, True)
    assert _judge("Lieber [Name],", light, _asked(GERMAN)).fault is Fault.PLACEHOLDER


@pytest.mark.parametrize("language", ["as_request", "de"])
def test_light_gate_tells_no_languages_apart(language: str) -> None:
    options = PatternOptions.model_validate({"language": language})
    light = PatternGate(options, LIGHT_BYTES)

    verdict = _judge(ENGLISH, light, _asked(GERMAN))

    assert light.applies(_asked(GERMAN))
    assert (verdict.result, verdict.gave_up) == (Result.ERROR, True)
    assert _judge(ENGLISH, PatternGate(options), _asked(GERMAN)).fault is Fault.WRONG_LANGUAGE


def test_light_gate_reads_no_request_for_patterns() -> None:
    light = PatternGate(PatternOptions.model_validate({"forbid": [SELF]}), LIGHT_BYTES)

    assert _judge("Als KI", light, _asked("Lang. " * 10_000)).fault is Fault.FORBIDDEN


def test_gate_has_its_name() -> None:
    assert _gate().name == "pattern"


def test_long_reply_is_judged() -> None:
    gate = _gate(forbid=[SELF], require=[SOURCE], placeholders="forbid", language="de")

    verdict = _judge(f"{GERMAN}\n" * 3000 + "Quelle: Stadt", gate)

    assert verdict.result is Result.PASS
