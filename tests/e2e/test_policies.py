"""What policies other than the shipped one make of a request, before a real proxy."""

from pathlib import Path
from typing import Any

from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream, stream

POLICY = """\
format: 1
name: loose
attempts: {{max_attempts: 2, cold: none}}
stream: {{mode: {mode}, keepalive_after_seconds: {after}, keepalive_every_seconds: 0.02}}
gates:
  strict_json: {{on_fail: [{ladder}], repair: [unwrap_fence]}}
"""
STRICT: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Hi"}],
    "response_format": {"type": "json_object"},
    "stream": True,
}


def _settings(
    folder: Path, ladder: str = "reject", mode: str = "auto", after: float = 0
) -> dict[str, object]:
    text = POLICY.format(ladder=ladder, mode=mode, after=after)
    (folder / "loose.yaml").write_text(text)
    return {"policies.folder": str(folder), "policies.order": ["loose"], "usage": "leave"}


async def test_end_of_a_passing_stream_is_withheld_until_the_verdict(tmp_path: Path) -> None:
    bad = stream(["no JSON"], usage=None)
    settings = _settings(tmp_path, mode="pass")
    async with fake_upstream(bad) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STRICT)
        record = await gate.record(response)

    assert received.startswith(b"".join(bad.pieces[:-2]))
    assert b'"leading_junk"' in received
    assert b"[DONE]" not in received
    assert record["outcome"] == "rejected"


async def test_keepalives_hold_the_line_until_the_stream_is_judged(tmp_path: Path) -> None:
    slow = stream(["{", "}"], usage=None, pause_seconds=0.05)
    settings = _settings(tmp_path, after=0.02)
    async with fake_upstream(slow) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STRICT)

    assert response.status == 200
    assert received.startswith(b": held\n\n")
    assert received.replace(b": held\n\n", b"") == b"".join(slow.pieces)


async def test_failure_after_keepalives_is_an_error_event(tmp_path: Path) -> None:
    slow = stream(["no ", "JSON"], usage=None, pause_seconds=0.05)
    settings = _settings(tmp_path, after=0.02)
    async with fake_upstream(slow) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STRICT)

    assert response.status == 200
    assert b'"gate_rejected"' in received
    assert b"[DONE]" not in received


async def test_repaired_stream_is_delivered_with_its_repair(tmp_path: Path) -> None:
    fenced = stream(["```json\n", '{"a":1}', "\n```"], usage=None)
    settings = _settings(tmp_path)
    async with fake_upstream(fenced) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STRICT)

    assert response.headers["x-sluicegate-outcome"] == "repaired"
    assert b"```" not in received
    assert received.endswith(b"data: [DONE]\n\n")


async def test_ladder_that_ends_in_deliver_counts_and_delivers(tmp_path: Path) -> None:
    settings = _settings(tmp_path, ladder="same, deliver")
    asked = STRICT | {"stream": False}
    async with (
        fake_upstream(completion("no"), completion("JSON")) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(asked)

    assert (response.status, received) == (200, completion("JSON").pieces[0])
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=fail(leading_junk)"
    assert len(upstream.calls) == 2
