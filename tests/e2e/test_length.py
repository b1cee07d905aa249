"""The gate `length` before a real proxy: re-ask, cut stream, trimming, counting of tokens."""

import json
from pathlib import Path
from typing import Any

import pytest

from proxy.errors import SluicegateError
from tests.fakes.gate import eventually, running_gate
from tests.fakes.upstream import Scripted, completion, fake_upstream, stream

POLICY = """\
format: 1
name: lengths
attempts: {{max_attempts: 2, cold: none}}
gates:
  length:
    {options}
    targets:
      {targets}
    on_fail: [{ladder}]
    on_error: flag
"""
WHOLE = "- {of: text, unit: graphemes, min: 10, max: 40, aim: [20, 30]}"
FIELDS = """- {of: "$.titel", unit: words, min: 2, max: 5}
      - {of: "$.tags[*]", unit: graphemes, max: 6}"""
TOKENS = "- {of: text, unit: tokens, max: 4}"
ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Teaser?"}]}
STREAMED = ASKED | {"stream": True}
JSON = ASKED | {"response_format": {"type": "json_object"}}
GOOD = "Ab Montag fahren mehr Busse ins Tal."
LONG = "Ab Montag fahren mehr Busse ins Tal. Das freut alle, die dort wohnen."


def _settings(
    folder: Path, targets: str = WHOLE, ladder: str = "reask, reject", options: str = "strip: none"
) -> dict[str, object]:
    text = POLICY.format(options=options, targets=targets, ladder=ladder)
    (folder / "lengths.yaml").write_text(text, encoding="utf-8")
    return {"policies.folder": str(folder), "policies.order": ["lengths"]}


def _content(received: bytes) -> str:
    content: str = json.loads(received)["choices"][0]["message"]["content"]
    return content


def _counted(count: int) -> Scripted:
    return Scripted((json.dumps({"count": count, "max_model_len": 9, "tokens": []}).encode(),))


async def test_re_ask_says_by_how_much_and_its_answer_is_delivered(tmp_path: Path) -> None:
    async with (
        fake_upstream(completion(LONG), completion(GOOD)) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        response, received = await gate.chat(ASKED)
        metrics = await gate.metrics()
        correction = upstream.calls[1].json["messages"][-1]["content"]

    assert (response.status, _content(received)) == (200, GOOD)
    assert response.headers["x-sluicegate-verdicts"] == "length=pass"
    assert correction.startswith(
        "Your text has 69 of at most 40 characters: shorten by 29 (aim for 20 to 30)."
    )
    assert metrics['sluicegate_faults_total{fault="too_long"}'] == 1


async def test_exhausted_ladder_is_a_typed_error_that_names_the_text(tmp_path: Path) -> None:
    bad = completion('{"titel":"Neue Busse","tags":["Bus","Verkehr"]}')
    async with (
        fake_upstream(bad, bad) as upstream,
        running_gate(upstream.url, _settings(tmp_path, FIELDS)) as gate,
    ):
        response, received = await gate.chat(JSON)

    error = json.loads(received)["error"]
    assert (response.status, error["code"]) == (422, "too_long")
    assert error["param"] == "choices[0].message.content#/tags/1"
    assert "has 7 of at most 6 characters" in error["message"]
    assert "Verkehr" not in error["message"]


@pytest.mark.parametrize(
    ("targets", "asked", "content"),
    [
        (WHOLE, JSON, '{"a":"b"}'),
        (FIELDS, ASKED, "x"),
        (FIELDS, JSON, '{"titel":"Mehr Busse im Tal"}'),
    ],
    ids=["text_of_json", "fields_of_text", "absent_field"],
)
async def test_what_a_target_does_not_mean_passes(
    tmp_path: Path, targets: str, asked: dict[str, Any], content: str
) -> None:
    async with (
        fake_upstream(completion(content)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, targets)) as gate,
    ):
        response, received = await gate.chat(asked)

    assert (response.status, _content(received)) == (200, content)


async def test_running_stream_is_cut_at_its_maximum_and_asked_for_again(tmp_path: Path) -> None:
    runaway = stream([f"Satz {number}. " for number in range(99)], pause_seconds=0.01)
    async with (
        fake_upstream(runaway, stream([GOOD])) as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        _, received = await gate.chat(STREAMED)
        await eventually(upstream.calls[0].over.is_set)
        closed_early = upstream.calls[0].closed_early
        correction = upstream.calls[1].json["messages"][-1]["content"]

    assert closed_early
    assert GOOD.encode() in received
    assert b"Satz 1" not in received
    assert "has more than 40 characters: keep to at most 40 characters" in correction


@pytest.mark.parametrize("asked", [ASKED, STREAMED], ids=["whole", "stream"])
async def test_last_attempt_is_trimmed_at_a_sentence_and_repaired(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    reply = stream([LONG[:20], LONG[20:]]) if asked is STREAMED else completion(LONG)
    settings = _settings(tmp_path, options="trim: sentence")
    async with (
        fake_upstream(reply, reply) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(asked)
        record = await gate.record(response)
        metrics = await gate.metrics()

    assert len(upstream.calls) == 2
    assert GOOD.encode() in received
    assert b"freut" not in received
    assert record["outcome"] == "repaired"
    assert record["repairs"] == ["trim_sentence"]
    assert response.headers["x-sluicegate-verdicts"] == "length=pass"
    assert metrics['sluicegate_repairs_total{repair="trim_sentence"}'] == 1


async def test_reply_without_an_end_that_fits_takes_the_ladder_s_end(tmp_path: Path) -> None:
    bad = completion("Ein einziger langer Satz, der an keiner Stelle vorher enden kann.")
    settings = _settings(tmp_path, options="trim: sentence", ladder="reask, flag")
    async with (
        fake_upstream(bad, bad) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert response.headers["x-sluicegate-outcome"] == "flagged"
    assert received == bad.pieces[0]


@pytest.mark.parametrize(("count", "outcome"), [(4, "passed"), (5, "rejected")])
async def test_tokens_are_counted_by_the_upstream(tmp_path: Path, count: int, outcome: str) -> None:
    settings = _settings(tmp_path, TOKENS, ladder="reject")
    async with (
        fake_upstream(completion(GOOD), _counted(count)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(ASKED)
        counting = upstream.calls[1]

    assert response.headers["x-sluicegate-outcome"] == outcome
    assert response.headers["x-sluicegate-attempts"] == "1"
    assert (counting.path, counting.json["prompt"]) == ("/tokenize", GOOD)


async def test_tokens_of_a_text_from_the_other_process_are_counted_too(tmp_path: Path) -> None:
    text = "Ab Montag fahren mehr Busse ins Tal. " * 1_000
    async with (
        fake_upstream(completion(text), _counted(4)) as upstream,
        running_gate(upstream.url, _settings(tmp_path, TOKENS)) as gate,
    ):
        response, _ = await gate.chat(ASKED)
        counting = upstream.calls[1]

    assert response.headers["x-sluicegate-verdicts"] == "length=pass"
    assert counting.json["prompt"] == text


async def test_upstream_that_does_not_count_is_a_matter_of_on_error(tmp_path: Path) -> None:
    refuses = Scripted((b'{"detail":"Not Found"}',), status=404)
    async with (
        fake_upstream(completion(GOOD), refuses) as upstream,
        running_gate(upstream.url, _settings(tmp_path, TOKENS)) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert response.headers["x-sluicegate-outcome"] == "flagged"
    assert response.headers["x-sluicegate-verdicts"] == "length=error"
    assert _content(received) == GOOD


async def test_reply_of_200000_characters_is_judged_in_the_other_process(tmp_path: Path) -> None:
    text = "Ein **fetter** Satz mit [Link](https://example.org/weg) darin. " * 4_000
    targets = "- {of: text, unit: sentences, max: 4000}"
    settings = _settings(tmp_path, targets, options="strip: markdown")
    async with (
        fake_upstream(completion(text)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(ASKED)

    assert response.headers["x-sluicegate-verdicts"] == "length=pass"


async def test_policy_with_contradictory_limits_is_refused_with_its_place(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "- {of: text, unit: words, min: 12, max: 6}")

    with pytest.raises(SluicegateError, match=r"lengths\.yaml:8:47: .*is 6, but `min` is 12"):
        async with running_gate("http://127.0.0.1:9", settings):
            pass
