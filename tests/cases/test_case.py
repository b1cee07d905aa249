"""Reading case files: what a case may hold, and how it is told what is wrong."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.case import EXPECTATIONS, Case, CaseError, End, Unreadable, read_case, read_file
from tests.cases.checks import CHECKS

LEAST: dict[str, Any] = {"id": "X1", "request": {}, "upstream": {"body": {}}, "expect": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": 1}, "case: unknown member colour"),
        ({"upstream": {"body": {}, "speed": 1}}, r"upstream\[0\]: unknown member speed"),
        ({"upstream": [{"raw": ""}, {}]}, r"upstream\[1\]: needs one of body, raw"),
        ({"upstream": {"raw": "", "sse": []}}, r"upstream\[0\]: needs one of"),
        ({"upstream": {"raw": "", "end": "slowly"}}, "unknown word `slowly`"),
        ({"upstream": {"b64": "?"}}, "not base64"),
        ({"client": {"speed": 1, "mood": 2}}, "client: unknown members mood, speed"),
        ({"expect": {"joy": True}}, "expect: unknown member joy"),
        ({"variants": [{"expect": {}, "id": "Y"}]}, r"variants\[0\]: unknown member id"),
        ({"variants": [{}]}, r"variants\[0\]: missing: expect"),
        ({"request": []}, "request: not an object"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_a_case_may_not_hold_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read_case({**LEAST, **change})


def test_missing_members_are_named_together() -> None:
    with pytest.raises(CaseError, match="missing: upstream, expect"):
        read_case({"id": "X1", "request": {}})


def test_bad_line_does_not_hide_the_others(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    bad = json.dumps({**LEAST, "id": "X2", "colour": 1})
    file.write_text(f"{json.dumps(LEAST)}\n\n{bad}\n{{\n", encoding="utf-8")

    good, unknown, broken = read_file(file)

    assert isinstance(good, Case)
    assert unknown == Unreadable("X2", "case: unknown member colour")
    assert isinstance(broken, Unreadable)
    assert broken.id == "line 4"


def test_stream_keeps_its_chunks_and_their_bytes() -> None:
    chunks = ["data: ü", {"b64": base64.b64encode(b"\xf0\x9f").decode()}]
    upstream = {"sse": chunks, "delays_ms": [0, 50], "end": "eof", "headers": {"x-a": 1}}

    (answer,) = read_case({**LEAST, "upstream": upstream}).answers

    assert answer.pieces == ("data: ü".encode(), b"\xf0\x9f")
    assert answer.delays_seconds == (0.0, 0.05)
    assert (answer.end, answer.is_stream, answer.headers) == (End.EOF, True, (("x-a", "1"),))


def test_lone_answer_is_told_from_a_list_of_one() -> None:
    assert read_case(LEAST).lone_answer
    assert not read_case({**LEAST, "upstream": [{"body": {}}]}).lone_answer


def test_variant_inherits_all_but_the_expectations() -> None:
    base = {**LEAST, "policy": {"json": {}}, "expect": {"client_status": 200}}
    variant = {"request": {"n": 2}, "expect": {"retries": 0}}

    (found,) = read_case({**base, "variants": [variant]}).variants

    assert (found.id, found.request, found.policy) == ("X1/1", {"n": 2}, {"json": {}})
    assert found.expect == {"retries": 0}


def test_client_may_say_that_it_streams() -> None:
    case = read_case({**LEAST, "client": {"stream": True, "vary": "model: m-<n>"}})

    assert case.request == {"stream": True}
    assert case.client.vary == ("model", "m-<n>")


def test_every_expectation_has_its_check() -> None:
    assert set(CHECKS) == EXPECTATIONS
