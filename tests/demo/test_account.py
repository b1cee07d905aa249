import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.account import NoAccount, fetch_record, tell_headers, tell_record
from proxy.demo.screen import Colour, Screen
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Endpoint, Outcome, Unchecked
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

RECORD = {
    "id": "r1",
    "received_at": 1.0,
    "endpoint": "chat",
    "outcome": "passed",
    "status": 200,
    "a_later_field": 1,
}

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def admin(handle: Handle) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/sluicegate/requests/{id}", handle)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_record_is_asked_for_until_it_is_there() -> None:
    answers = [web.json_response(RECORD), web.Response(status=404)]

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.match_info["id"] == "r1"
        return answers.pop()

    async with admin(handle) as url, aiohttp.ClientSession() as session:
        record = await fetch_record(session, url, "r1", pause_seconds=0)

    assert record.outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, "", "HTTP 404 for r1"),
        (401, json.dumps({"error": {}}), "HTTP 401, and no record"),
        (200, "<html>", "HTTP 200, and no record"),
    ],
    ids=["never_recorded", "closed", "not_json"],
)
async def test_missing_record_says_why(status: int, body: str, reason: str) -> None:
    async def handle(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body)

    async with admin(handle) as url, aiohttp.ClientSession() as session:
        with pytest.raises(NoAccount, match=reason):
            await fetch_record(session, url, "r1", pause_seconds=0)


async def test_reply_without_an_id_has_no_record() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(NoAccount, match="no x-request-id"):
            await fetch_record(session, "http://127.0.0.1", "")


async def test_absent_admin_listener_says_so(unused_tcp_port: int) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(NoAccount, match="cannot be asked"):
            await fetch_record(session, f"http://127.0.0.1:{unused_tcp_port}", "r1")


def test_repeated_request_tells_every_attempt() -> None:
    out = io.StringIO()
    record = RequestRecord(
        id="r1",
        received_at=1.0,
        endpoint=Endpoint.CHAT,
        outcome=Outcome.PASSED,
        status=200,
        policy="production@1a2b",
        attempts=(
            attempt(1, AttemptStep.FIRST, AttemptResult.INVALID, "not_json"),
            attempt(2, AttemptStep.COLD, AttemptResult.VALID),
        ),
        verdicts=(VerdictRecord("strict_json", "pass", enforced=True, seconds=0.0),),
        duration_seconds=0.8,
        overhead_seconds=0.0012,
        hold_seconds=0.4,
    )

    tell_record(Screen(out, coloured=False), record)

    assert out.getvalue().splitlines() == [
        "  attempt 1 first (engine cold), invalid: not_json, 0.40 s",
        "  attempt 2 cold (engine cold), valid, 0.40 s",
        "  outcome   passed, 2 attempts, policy production@1a2b",
        "  gates     strict_json pass",
        "  cost      0.80 s in all, proxy's own time 1.20 ms, held 400 ms",
    ]


def test_relayed_request_says_that_nothing_judged_it() -> None:
    out = io.StringIO()
    record = RequestRecord(
        id="r1",
        received_at=1.0,
        endpoint=Endpoint.CHAT,
        outcome=Outcome.PASSED,
        status=200,
        attempts=(attempt(1, AttemptStep.FIRST, AttemptResult.RELAYED),),
        unchecked=(Unchecked.NO_POLICY,),
        stream=True,
        ttfr_seconds=0.1,
        tokens_per_second=79.6,
    )

    tell_record(Screen(out, coloured=False), record)

    assert out.getvalue().splitlines() == [
        "  outcome   passed, 1 attempt, policy none",
        "  gates     none applies to this request: relayed unjudged",
        "  unchecked no_policy",
        "  cost      0.00 s in all, proxy's own time 0.00 ms, TTFR 0.100 s, 80 tok/s",
    ]


def test_rejected_request_names_error_and_fault() -> None:
    out = io.StringIO()
    record = RequestRecord(
        id="r1",
        received_at=1.0,
        endpoint=Endpoint.CHAT,
        outcome=Outcome.REJECTED,
        status=422,
        error_code="truncated",
        repairs=("unwrap_fence",),
        attempts=(attempt(1, AttemptStep.FIRST, AttemptResult.INVALID, "truncated"),),
        verdicts=(
            VerdictRecord("strict_json", "fail", enforced=True, seconds=0.0, fault="truncated"),
        ),
    )

    tell_record(Screen(out, coloured=False), record)

    assert out.getvalue().splitlines()[:2] == [
        "  outcome   rejected, 1 attempt, policy none | error truncated | repairs unwrap_fence",
        "  gates     strict_json fail (truncated)",
    ]


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        (
            {"x-sluicegate-outcome": "passed", "x-sluicegate-attempts": "2"},
            "outcome passed | attempts 2",
        ),
        ({}, "none of the proxy's own"),
    ],
    ids=["some", "none"],
)
def test_headers_tell_what_they_carry(headers: dict[str, str], told: str) -> None:
    out = io.StringIO()

    tell_headers(Screen(out, coloured=False), headers)

    assert out.getvalue() == f"  headers   {told}\n"


@pytest.mark.parametrize(
    ("outcome", "colour"),
    [
        (Outcome.PASSED, Colour.GOOD),
        (Outcome.REPAIRED, Colour.GOOD),
        (Outcome.FLAGGED, Colour.GOOD),
        (Outcome.REJECTED, Colour.BAD),
    ],
    ids=str,
)
def test_outcome_that_delivers_a_reply_is_told_as_good(outcome: Outcome, colour: Colour) -> None:
    out = io.StringIO()
    record = RequestRecord(
        id="r1", received_at=1.0, endpoint=Endpoint.CHAT, outcome=outcome, status=200
    )

    tell_record(Screen(out, coloured=True), record)

    assert f"\x1b[{colour}m{outcome}, 0 attempts" in out.getvalue()


def attempt(number: int, step: AttemptStep, result: AttemptResult, *faults: str) -> AttemptRecord:
    return AttemptRecord(
        number=number,
        step=step,
        result=result,
        status=200,
        faults=faults,
        cold=step is AttemptStep.COLD or bool(faults),
        seconds=0.4,
        ttfr_seconds=None,
        completion_tokens=None,
    )
