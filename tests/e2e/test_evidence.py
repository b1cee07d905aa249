"""The gate `evidence` before a real proxy: re-ask, ends of both ladders, wrong requests."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream, stream

POLICY = """\
format: 1
name: sourced
attempts: {{max_attempts: 2, cold: none}}
gates:
  evidence:
    sources: [{{tag: quelle}}]
    typed: {{on_fail: [{typed}]}}
    soft: {{on_fail: [{soft}]}}
"""
SOURCE = "Die Stiftung vergab 1.500 Stipendien und 250 Preise."
RIGHT = "Die Stiftung vergab 1500 Stipendien."
WRONG = "Die Stiftung vergab 50 Stipendien."
HINT = "Die Stiftung vergab an Marlee Matlin 250 Preise."


def _asked(source: str = SOURCE, *, is_stream: bool = False) -> dict[str, Any]:
    content = f"Fasse zusammen.\n<quelle>{source}</quelle>"
    messages = [{"role": "user", "content": content}]
    return {"model": "tiny", "messages": messages} | ({"stream": True} if is_stream else {})


def _settings(folder: Path, typed: str = "reask, reject", soft: str = "flag") -> dict[str, object]:
    (folder / "sourced.yaml").write_text(POLICY.format(typed=typed, soft=soft))
    return {"policies.folder": str(folder), "policies.order": ["sourced"]}


async def test_re_ask_names_the_detail_and_the_nearest_source_text(tmp_path: Path) -> None:
    async with (
        fake_upstream(completion(WRONG), completion(RIGHT)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked())
        metrics = await gate.metrics()

    assert (response.status, received) == (200, completion(RIGHT).pieces[0])
    assert response.headers["x-sluicegate-verdicts"] == "evidence=pass"
    assert upstream.calls[1].json["messages"][-1]["content"] == (
        "These details are not in the sources. Remove or correct each, and add nothing new:\n"
        f'- "50" (a number); nearest in the sources: "{SOURCE}"\n'
        "Write the whole answer again."
    )
    assert metrics['sluicegate_faults_total{fault="evidence_number"}'] == 1


async def test_detail_that_stays_wrong_is_refused_without_quoting_it(tmp_path: Path) -> None:
    async with (
        fake_upstream(completion(WRONG), completion(WRONG)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked())

    error = json.loads(received)["error"]
    assert (response.status, error["code"]) == (422, "evidence_number")
    assert error["param"] == "choices[0].message.content"
    assert "Stiftung" not in error["message"]
    assert len(upstream.calls) == 2
    assert "Stipendien" not in gate.log.getvalue()


@pytest.mark.parametrize(("soft", "outcome"), [("flag", "flagged"), ("deliver", "passed")])
async def test_hint_never_retries(tmp_path: Path, soft: str, outcome: str) -> None:
    async with (
        fake_upstream(completion(HINT)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, soft=soft)) as gate,
    ):
        response, received = await gate.chat(_asked())
        metrics = await gate.metrics()

    assert (response.status, received) == (200, completion(HINT).pieces[0])
    assert response.headers["x-sluicegate-outcome"] == outcome
    assert len(upstream.calls) == 1
    assert metrics['sluicegate_faults_total{fault="evidence_name"}'] == 1


async def test_number_cut_into_chunks_is_judged_before_a_stream_flows(tmp_path: Path) -> None:
    bad = stream(["Die Stiftung vergab 1", ".", "900 Stip", "endien."])
    good = stream(["Die Stiftung vergab 1", ".", "500 Stip", "endien."])
    async with (
        fake_upstream(bad, good) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(_asked(is_stream=True))

    assert response.status == 200
    assert b"500 Stip" in received
    assert b"900 Stip" not in received


async def test_long_source_is_compared_in_the_judging_process(tmp_path: Path) -> None:
    async with (
        fake_upstream(completion(WRONG)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, typed="reject")) as gate,
    ):
        response, received = await gate.chat(_asked(SOURCE * 500))

    assert response.status == 422
    assert b'"evidence_number"' in received


async def test_reply_with_more_claims_than_are_compared_is_counted(tmp_path: Path) -> None:
    async with (
        fake_upstream(completion(RIGHT * 600)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, _ = await gate.chat(_asked())
        metrics = await gate.metrics()

    assert response.status == 200
    assert metrics['sluicegate_unchecked_total{reason="claims"}'] == 1
    assert metrics['sluicegate_unchecked_total{reason="pattern"}'] == 0


async def test_request_without_a_source_is_relayed(tmp_path: Path) -> None:
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "Hallo"}]}
    async with (
        fake_upstream(completion(WRONG)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(asked)

    assert (response.status, received) == (200, completion(WRONG).pieces[0])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param("<quelle>Text ohne Ende", "source_not_closed", id="tag never closed"),
        pytest.param(
            f"<quelle>{'Wort ' * 1_000_000}</quelle>", "sources_too_large", id="5 MB of source"
        ),
    ],
)
async def test_source_that_cannot_be_used_is_the_client_s_fault(
    tmp_path: Path, content: str, code: str
) -> None:
    asked = {"model": "tiny", "messages": [{"role": "user", "content": content}]}
    async with (
        fake_upstream(completion(WRONG)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(asked)

    assert (response.status, json.loads(received)["error"]["code"]) == (400, code)
    assert upstream.calls == []
