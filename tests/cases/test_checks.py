"""Checks are sharp: on one run, the true expectations hold and every false one is found."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.cases.case import Answer, Case, ClientScript
from tests.cases.checks import check
from tests.cases.finding import NotChecked, Wrong
from tests.cases.run import Exchange, Seen
from tests.cases.upstream import UpstreamCall
from tests.fakes.upstream import Received

REQUEST = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Q"}],
    "response_format": {"type": "json_object"},
    "stream": True,
}
VARIED = {**REQUEST, "seed": 5}
SENT = (
    b'data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning":"Hm","content":"{}"}}]}\n\n',
    (
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":'
        b'{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}\n\n'
    ),
    b"data: [DONE]\n\n",
)
RECORD = {
    "outcome": "passed",
    "received_at": 100.0,
    "ttft_seconds": 0.5,
    "attempts": [
        {"step": "first", "result": "invalid", "status": 200, "faults": ["leading_junk"]},
        {"step": "vary", "result": "valid", "status": 200},
    ],
}
AFTER = {
    'sluicegate_requests_total{endpoint="chat",outcome="passed"}': 1.0,
    'sluicegate_attempts_total{result="valid",step="vary"}': 2.0,
    'sluicegate_faults_total{fault="leading_junk"}': 1.0,
}


def _call(body: Mapping[str, Any], *, closed_early: bool) -> UpstreamCall:
    received = Received("POST", "/", {}, json.dumps(body).encode(), closed_early)
    received.over.set()
    return UpstreamCall(Answer(SENT, is_stream=True), received, [100.1, 100.4, 100.6])


def _seen(expect: Mapping[str, Any]) -> Seen:
    case = Case("X", REQUEST, {}, (), lone_answer=False, client=ClientScript(), expect=expect)
    headers = {"content-type": "text/event-stream", "x-request-id": "1"}
    exchange = Exchange(REQUEST, 200, headers, b"".join(SENT), dropped=False, record=RECORD)
    calls = (_call(REQUEST, closed_early=True), _call(VARIED, closed_early=False))
    return Seen(case, (exchange,), calls, {}, AFTER, 0, replace(exchange, status=503))


HOLDS: dict[str, Any] = {
    "client_status": [200, 422],
    "upstream_calls": 2,
    "retries": 1,
    "attempts_valid": [False, True],
    "valid_json": True,
    "delivered_content": "{}",
    "delivered_tool_calls": [{"name": "f", "arguments": {}}],
    "delivered_id": "c1",
    "fault": "json_invalid",
    "repaired": False,
    "upstream_closed_early": [True, False],
    "client_headers": "x-request-id present",
    "client_stream": {
        "content": "{}",
        "reasoning": "Hm",
        "done": True,
        "finish_reason": "stop",
        "usage_chunk": False,
        "error_event": False,
        "byte_identical": True,
        "must_not": "finish_reason length",
    },
    "upstream_request": {
        "attempt_1": "JSON-equal to the client's request",
        "attempt_2": "differs from attempt 1 in messages, seed or temperature",
    },
    "metrics": {"client_requests": 1, "upstream_attempts": 2, "ttfr_at_event": 2},
    "then": {"request": "same with a normal upstream", "client_status": 503},
    "if_200": "finish_reason stays stop",
    "must_not": "HTTP 500 or a dropped connection",
}


def test_true_expectations_hold_and_all_are_checked() -> None:
    assert check(_seen(HOLDS)) == []


@pytest.mark.parametrize(
    ("name", "false"),
    [
        ("client_status", 502),
        ("client_status", None),
        ("upstream_calls", [0, 1]),
        ("retries", 2),
        ("attempts_valid", [True, True]),
        ("attempts_valid", [False]),
        ("valid_json", False),
        ("delivered_content", "{ }"),
        ("delivered_tool_calls", []),
        ("delivered_id", "c2"),
        ("fault", "schema_violation"),
        ("fault", "whitespace_loop"),
        ("fault", "client_request"),
        ("fault", "upstream_5xx"),
        ("repaired", True),
        ("upstream_cancelled", True),
        ("upstream_closed_early", [False, False]),
        ("client_headers", "retry-after present"),
        ("client_headers", {"x-request-id": None}),
        ("client_stream", {"content": "[]"}),
        ("client_stream", {"reasoning": ""}),
        ("client_stream", {"done": False}),
        ("client_stream", {"finish_reason": None}),
        ("client_stream", {"usage_chunk": True}),
        ("client_stream", {"error_event": True}),
        ("client_stream", {"byte_identical": False}),
        ("client_stream", {"must_not": "finish_reason stop after the verdict"}),
        ("upstream_request", {"every_attempt": "JSON-equal to the client's request"}),
        ("upstream_request", {"attempt_2": "identical to attempt 1"}),
        ("upstream_request", {"attempt_2": "differs from attempt 1 in messages or temperature"}),
        ("upstream_request", {"attempt_3": "identical to attempt 1"}),
        ("upstream_request", {"attempt_1": "seed 5 is forwarded unchanged"}),
        ("upstream_request", {"attempt_1": "exactly one system message, at index 0"}),
        ("upstream_request", {"attempt_2": "added text contains tool"}),
        ("metrics", {"client_requests": 2}),
        ("metrics", {"cold_retry": 1}),
        ("metrics", {"ttfr_at_event": 2, "event_count_from": 0}),
        ("metrics", {"ttfr_ms_about": 900}),
        ("error_body", "OpenAI form"),
        ("error_body", {"type": "gate_rejected"}),
        ("then", {"request": "same with a normal upstream", "client_status": 200}),
        ("if_200", "finish_reason length"),
    ],
)
def test_false_expectation_is_found(name: str, false: Any) -> None:
    findings = check(_seen({name: false}))

    assert any(isinstance(finding, Wrong) for finding in findings)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("must_not", "sing"),
        ("if_200", "the sun shines"),
        ("also_check", "the same on Mondays"),
        ("upstream_request", {"every_attempt": "is polite"}),
        ("error_body", "is polite"),
        ("client_stream", {"mood": "good"}),
        ("metrics", {"moods": 1}),
        ("attempts_valid", [False, True, False]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_checked_is_said(name: str, words: Any) -> None:
    findings = check(_seen({name: words}))

    assert findings
    assert all(isinstance(finding, NotChecked) for finding in findings)
