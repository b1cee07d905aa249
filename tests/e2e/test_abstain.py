"""The gate `abstain` before a real proxy: both ladders, the fallback's text, and wrong policies."""

from pathlib import Path
from typing import Any

import pytest

from proxy.errors import SluicegateError
from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream, stream

POLICY = """\
format: 1
name: thin
attempts: {{max_attempts: 3, cold: none}}
gates:
  abstain:
    sources: [{{tag: quelle}}]
    fallback_text: "Die Quelle reicht für diesen Text nicht aus."
    on_overconfident: [{overconfident}]
    on_needless: [{needless}]
    on_error: reject
"""
NOTE = "Schreibe einen Kurztext. <quelle>Notiz: Termin mit Lieferant verschoben.</quelle>"
INVENTED = "Das Projekt liegt im Plan. Das grösste Risiko ist die Verfügbarkeit der Sensoren."
ABSTAINS = "Die Quelle enthält dazu keine Angaben."
SENTENCES = (
    "Linie 12 fährt werktags alle zehn Minuten vom Bahnhof ins Tal.",
    "Der Bau der neun Haltestellen kostete 3,4 Millionen Franken, den grössten Teil trägt Uri.",
    "Verkehrsdirektorin Brunner rechnet mit 2000 Personen täglich und lobt den Betreiber.",
    "Anwohner befürchteten Lärm, deshalb kommen Elektrobusse eines Herstellers aus Schweden.",
    "Batterien halten 240 Kilometer, geladen wird nachts im Depot an der Seestrasse.",
    "Nachbargemeinden prüfen Anschlüsse, Wirte hoffen auf Gäste, Schulen planen Ausflüge.",
    "Eine Anlage auf dem Dach liefert einen Drittel des Stroms, Händler bestellen Ware.",
)
RICH = f"Schreibe einen Kurztext. <quelle>{' '.join(SENTENCES)}</quelle>"


def _asked(content: str, **members: Any) -> dict[str, Any]:
    return {"model": "tiny", "messages": [{"role": "user", "content": content}], **members}


def _settings(
    folder: Path, overconfident: str = "reask, fallback", needless: str = "reask, flag"
) -> dict[str, object]:
    text = POLICY.format(overconfident=overconfident, needless=needless)
    (folder / "thin.yaml").write_text(text)
    return {"policies.folder": str(folder), "policies.order": ["thin"]}


async def test_invented_answer_ends_in_the_policy_s_text(tmp_path: Path) -> None:
    bad = completion(INVENTED)
    async with (
        fake_upstream(bad, bad) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked(NOTE))
        metrics = await gate.metrics()

    assert response.status == 200
    assert "Die Quelle reicht für diesen Text nicht aus." in received.decode("unicode_escape")
    assert b"Sensoren" not in received
    assert response.headers["x-sluicegate-verdicts"] == "abstain=fail(overconfident)"
    assert response.headers["x-sluicegate-outcome"] == "repaired"
    assert "too thin" in upstream.calls[1].json["messages"][-1]["content"]
    assert metrics['sluicegate_faults_total{fault="overconfident"}'] == 2


async def test_abstention_after_the_re_ask_is_delivered(tmp_path: Path) -> None:
    async with (
        fake_upstream(stream([INVENTED]), stream([ABSTAINS])) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked(NOTE, stream=True))

    assert response.headers["x-sluicegate-verdicts"] == "abstain=pass"
    assert b"Sensoren" not in received


async def test_needless_abstention_takes_its_own_ladder(tmp_path: Path) -> None:
    bad = completion(ABSTAINS)
    async with (
        fake_upstream(bad, bad) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked(RICH))

    assert (response.status, received) == (200, bad.pieces[0])
    assert response.headers["x-sluicegate-outcome"] == "flagged"
    assert response.headers["x-sluicegate-verdicts"] == "abstain=fail(needless_abstention)"
    assert len(upstream.calls) == 2


async def test_sources_are_those_of_the_evidence_gate_where_it_has_none(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "fallback")
    path = tmp_path / "thin.yaml"
    own = "  abstain:\n    sources: [{tag: quelle}]\n"
    lent = "  evidence: {sources: [{tag: quelle}], mode: observe}\n  abstain:\n"
    path.write_text(path.read_text().replace(own, lent))
    async with (
        fake_upstream(completion(INVENTED)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(_asked(NOTE))

    assert "abstain=fail(overconfident)" in response.headers["x-sluicegate-verdicts"]


async def test_request_without_a_source_is_relayed(tmp_path: Path) -> None:
    reply = completion(INVENTED)
    async with (
        fake_upstream(reply) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked("Wie steht das Projekt?"))

    assert received == reply.pieces[0]
    assert "x-sluicegate-verdicts" not in response.headers


@pytest.mark.parametrize(
    ("content", "code", "param"),
    [
        ("Kürze: <quelle>Ulm liegt", "source_not_closed", "messages[0].content"),
        (f"<quelle>{'Ulm. ' * 1_000_000}</quelle>", "sources_too_large", "messages"),
    ],
    ids=["never-closed", "five-megabytes"],
)
async def test_sources_that_cannot_be_read_are_refused(
    tmp_path: Path, content: str, code: str, param: str
) -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked(content))

    assert response.status == 400
    assert f'"code": "{code}"'.encode() in received
    assert f'"param": "{param}"'.encode() in received
    assert upstream.calls == []


async def test_long_request_is_judged_in_the_judging_process(tmp_path: Path) -> None:
    long = f"{'Bitte kurz. ' * 3000} {NOTE}"
    async with (
        fake_upstream(completion(INVENTED)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, "fallback")) as gate,
    ):
        response, _ = await gate.chat(_asked(long))

    assert response.headers["x-sluicegate-verdicts"] == "abstain=fail(overconfident)"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("sources: [{tag: quelle}]\n    ", ""), "5:3: the gate `abstain` cannot be built: it has"),
        (
            ('fallback_text: "Die Quelle reicht für diesen Text nicht aus."\n    ', ""),
            "needs a text",
        ),
        (
            ("{tag: quelle}", "{tag: '<quelle>'}"),
            "6:21: `gates.abstain.sources[0].tag` is no name of a tag",
        ),
        (("{tag: quelle}", "{field: material}"), "`gates.abstain.sources[0].field` is no path"),
        (("[reask, flag]", "[reask]"), "9:19: the ladder stops at `reask`"),
    ],
    ids=["no-sources", "no-text", "brackets", "no-path", "no-end"],
)
async def test_wrong_policy_is_told_with_its_place(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    settings = _settings(tmp_path)
    path = tmp_path / "thin.yaml"
    path.write_text(path.read_text().replace(*change))

    with pytest.raises(SluicegateError) as caught:
        async with running_gate("http://127.0.0.1:9", settings):
            pass

    assert told in str(caught.value)
