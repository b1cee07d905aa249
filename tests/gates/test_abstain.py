import json
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.errors import Fault, InvalidRequest
from proxy.gates.abstain import AbstainGate
from proxy.gates.abstain_options import AbstainOptions
from proxy.gates.base import Result, Verdict
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request

CONTENT = "choices[0].message.content"
NOTE = "Schreibe eine Zusammenfassung. <quelle>Notiz: Termin mit Lieferant verschoben.</quelle>"
RICH = (
    "Schreibe einen Teaser. <quelle>Die Stadtwerke eröffnen am Montag eine neue Buslinie vom "
    "Bahnhof ins Tal. Linie 12 fährt werktags alle zehn Minuten, am Wochenende jede halbe Stunde. "
    "Der Bau der neun Haltestellen kostete 3,4 Millionen Franken; den grössten Teil trägt der "
    "Kanton. Fahrgäste können Fahrräder mitnehmen. Verkehrsdirektorin Brunner rechnet mit 2000 "
    "Personen täglich. Linie 7 wird eingestellt, ihre Fahrzeuge gehen nach Kroatien. Anwohner "
    "befürchteten Lärm, deshalb setzt der Betreiber Elektrobusse eines Herstellers aus Schweden "
    "ein. Batterien halten 240 Kilometer. Geladen wird nachts im Depot an der Seestrasse, wo eine "
    "Anlage auf dem Dach einen Drittel des Stroms liefert. Nachbargemeinden prüfen Anschlüsse, "
    "Wirte hoffen auf Gäste, Schulen planen Ausflüge, Händler bestellen Ware.</quelle>"
)
INVENTED = "Das Projekt liegt im Plan. Das grösste Risiko ist die Verfügbarkeit der Sensoren."
ABSTAINS = "Die Quelle enthält dazu keine Angaben."


def _gate(**options: Any) -> AbstainGate:
    chosen = {"sources": [{"tag": "quelle"}], **options}
    return AbstainGate(AbstainOptions.model_validate(chosen))


def _asked(content: str) -> Request:
    return Request(b"", messages=json.dumps([{"role": "user", "content": content}]).encode())


def _judge(answer: str, asked: str, gate: AbstainGate | None = None) -> Verdict:
    reply = Reply((Choice(0, answer, finish_reason="stop"),))
    return (gate or _gate()).judge(reply, _asked(asked))


def test_confident_answer_to_a_thin_source_fails() -> None:
    verdict = _judge(INVENTED, NOTE)

    assert (verdict.result, verdict.fault) == (Result.FAIL, Fault.OVERCONFIDENT)
    assert (verdict.ladder, verdict.place) == ("overconfident", CONTENT)
    assert verdict.reason == f"{CONTENT} says more than the request's thin sources bear."
    assert "Answer only from them" in verdict.feedback
    assert "Sensoren" not in verdict.reason + verdict.feedback


def test_abstention_from_a_source_that_suffices_fails() -> None:
    verdict = _judge(ABSTAINS, RICH)

    assert (verdict.result, verdict.fault) == (Result.FAIL, Fault.NEEDLESS_ABSTENTION)
    assert (verdict.ladder, verdict.place) == ("needless", CONTENT)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (ABSTAINS, NOTE),
        ("Der Termin mit dem Lieferanten wurde verschoben.", NOTE),
        ("Am Montag eröffnen die Stadtwerke eine Buslinie ins Tal.", RICH),
        ("In Lappland scheint im Winter keine Sonne.", RICH),
    ],
    ids=["abstains", "stays-with-the-source", "answers", "wrong-but-not-ours"],
)
def test_other_answers_pass(answer: str, asked: str) -> None:
    assert _judge(answer, asked) == Verdict("abstain", Result.PASS)


def test_limits_are_the_policy_s() -> None:
    gate = _gate(thin={"always_below": 0, "below": 0})

    assert _judge(INVENTED, NOTE, gate).result is Result.PASS


def test_phrases_of_the_policy_abstain() -> None:
    answer = "Hier fehlt mir die nötige Substanz, liebe Redaktion, samt Zahlen, Namen, Orten."
    gate = _gate(phrases={"de": ["die nötige Substanz"]})

    assert _judge(answer, NOTE, gate).result is Result.PASS
    assert _judge(answer, NOTE).fault is Fault.OVERCONFIDENT


def test_string_values_of_a_json_answer_are_judged() -> None:
    assert _judge(json.dumps({"kurztext": INVENTED, "n": 3}), NOTE).fault is Fault.OVERCONFIDENT
    assert _judge(json.dumps({"kurztext": ABSTAINS}), NOTE).result is Result.PASS


@pytest.mark.parametrize(
    "choice",
    [
        Choice(0, None),
        Choice(0, " "),
        Choice(0, INVENTED, refusal="Nein."),
        Choice(0, INVENTED, finish_reason="content_filter"),
        Choice(0, INVENTED, tool_calls=(ToolCall(0, "a", "f", "{}"),)),
    ],
    ids=["none", "blank", "refusal", "filtered", "calls"],
)
def test_what_is_no_answer_is_skipped(choice: Choice) -> None:
    assert _gate().judge(Reply((choice,)), _asked(NOTE)).result is Result.SKIP


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (Reply(), NOTE),
        (Reply((Choice(0, INVENTED),), error="{}"), NOTE),
        (Reply((Choice(0, INVENTED),)), "Ohne Quelle."),
    ],
)
def test_reply_without_choices_or_sources_is_skipped(reply: Reply, asked: str) -> None:
    assert _gate().judge(reply, _asked(asked)).result is Result.SKIP


@pytest.mark.parametrize(
    ("asked", "applies"),
    [(NOTE, True), ("<quelle></quelle>", True), ("Ohne.", False), ("Was ist eine quelle?", False)],
)
def test_gate_guards_requests_with_sources(asked: str, applies: bool) -> None:
    assert _gate().applies(_asked(asked)) is applies


def test_request_whose_source_is_never_closed_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="never closed"):
        _gate().applies(_asked("<quelle>Ulm"))


def test_nothing_is_watched() -> None:
    assert _gate().watch(_asked(NOTE)) is None


def test_gate_has_its_name() -> None:
    assert _gate().name == "abstain"


def test_gate_without_sources_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="it has no `sources`"):
        AbstainGate(AbstainOptions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thin": {"always_below": 70}}, "is 60, below `always_below`"),
        ({"thin": {"below": -1}}, "greater than or equal"),
        ({"phrases": {"de": ["", "x"]}}, "at least 3 characters"),
        ({"phrases": {"de": ["   "]}}, "pattern"),
        ({"phrases": {"klingon": ["abc"]}}, "klingon"),
        ({"sources": [{}]}, "names no source"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        AbstainOptions.model_validate(options)
