"""The gate `pattern` before a real proxy: re-ask, end, cut stream, and policies that are wrong."""

from pathlib import Path
from typing import Any

import pytest

from proxy.errors import SluicegateError
from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream, stream

POLICY = """\
format: 1
name: wording
attempts: {{max_attempts: 2, cold: none}}
gates:
  pattern:
    language: as_request
    placeholders: forbid
    require:
      - {{pattern: '(?m)^Quelle: ', reason: "Die Quellenzeile fehlt."}}
    forbid:
      - {{pattern: {pattern}, reason: "Das Modell spricht über sich."}}
    on_fail: [{ladder}]
"""
SELF = r"'(?i)\bals (KI|Sprachmodell)\b'"
ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Schreibe bitte einen Satz über die neue Buslinie."}],
}
STREAMED = ASKED | {"stream": True}
GOOD = "Die neue Linie fährt ab Montag alle zehn Minuten ins Tal.\nQuelle: Stadtwerke"


def _settings(folder: Path, ladder: str, pattern: str = SELF) -> dict[str, object]:
    (folder / "wording.yaml").write_text(POLICY.format(ladder=ladder, pattern=pattern))
    return {"policies.folder": str(folder), "policies.order": ["wording"]}


async def test_re_ask_names_the_faults_and_its_answer_is_delivered(tmp_path: Path) -> None:
    bad = completion("Als Sprachmodell grüße ich [Name einsetzen].")
    async with (
        fake_upstream(bad, completion(GOOD)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, "reask, reject")) as gate,
    ):
        response, received = await gate.chat(ASKED)
        metrics = await gate.metrics()

    assert (response.status, received) == (200, completion(GOOD).pieces[0])
    assert response.headers["x-sluicegate-verdicts"] == "pattern=pass"
    assert upstream.calls[1].json["messages"][-1]["content"] == (
        "Das Modell spricht über sich. Do not write `Als Sprachmodell`. "
        "Fill in `[Name einsetzen]`, or write the sentence without it. "
        "Die Quellenzeile fehlt. Write the whole answer again."
    )
    assert metrics['sluicegate_faults_total{fault="forbidden"}'] == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (GOOD + " Als KI weiß ich das.", "forbidden"),
        (GOOD.replace("Montag", "[Datum]"), "placeholder"),
        ("The new line runs every ten minutes into the valley.\nQuelle: city", "wrong_language"),
        (GOOD.partition("\n")[0], "required_missing"),
    ],
)
async def test_reply_is_refused_with_the_fault_as_code(
    tmp_path: Path, content: str, code: str
) -> None:
    async with (
        fake_upstream(completion(content)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, "reject")) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert response.status == 422
    assert f'"code": "{code}"'.encode() in received
    assert response.headers["x-should-retry"] == "false"


async def test_stream_is_cut_where_a_forbidden_wording_stands(tmp_path: Path) -> None:
    bad = stream(["Als Sprachmodell ", *["gefällt mir das sehr. "] * 400], pause_seconds=0.001)
    async with (
        fake_upstream(bad, stream([GOOD])) as upstream,
        running_gate(upstream.url, _settings(tmp_path, "vary, reject")) as gate,
    ):
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    assert upstream.calls[0].written < 100
    assert b"Sprachmodell" not in received
    assert record["attempts"][0]["faults"] == ["forbidden"]
    assert record["outcome"] == "passed"


async def test_long_reply_is_judged_in_the_judging_process(tmp_path: Path) -> None:
    long = completion(f"{GOOD}\n" * 400 + "Als KI sage ich das.")
    async with (
        fake_upstream(long) as upstream,
        running_gate(upstream.url, _settings(tmp_path, "reject")) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert response.status == 422
    assert b'"forbidden"' in received


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("'(?<=a)b'", "is no pattern that RE2 can take: invalid perl operator: (?<"),
        (r"'\bÜbung'", r"never holds: RE2's \b knows the letters a-z only"),
        ("'.*'", "holds for every text"),
    ],
)
async def test_pattern_that_cannot_work_is_told_with_its_place(
    tmp_path: Path, pattern: str, told: str
) -> None:
    settings = _settings(tmp_path, "reject", pattern)

    with pytest.raises(SluicegateError) as caught:
        async with running_gate("http://127.0.0.1:9", settings):
            pass

    problems = str(caught.value)
    assert "wording.yaml:11:19: `gates.pattern.forbid[0].pattern` " + told in problems
