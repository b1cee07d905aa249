"""What the proxy says it did with one request: asked of the admin listener, told in lines."""

import asyncio
from collections.abc import Mapping
from typing import Final

import aiohttp
import msgspec

from proxy.demo.screen import Colour, Screen
from proxy.telemetry.outcome import AttemptResult, Outcome
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

_TRIES: Final = 20
_GOOD: Final = frozenset({Outcome.PASSED, Outcome.REPAIRED, Outcome.FLAGGED})


class NoAccount(Exception):
    """The admin listener does not tell; the message says why."""


async def fetch_record(
    session: aiohttp.ClientSession, admin_url: str, request_id: str, pause_seconds: float = 0.05
) -> RequestRecord:
    """Ask for the record of a finished request, which may be written a moment after its reply.

    Raises `NoAccount`.
    """
    if not request_id:
        raise NoAccount("the reply carries no x-request-id")
    url = f"{admin_url}/sluicegate/requests/{request_id}"
    status = 0
    try:
        for _ in range(_TRIES):
            async with session.get(url) as response:
                status = response.status
                if status != 404:  # noqa: PLR2004 - not recorded yet
                    return msgspec.json.decode(await response.read(), type=RequestRecord)
            await asyncio.sleep(pause_seconds)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise NoAccount(f"the admin listener cannot be asked: {error}") from error
    except msgspec.MsgspecError as error:
        raise NoAccount(f"HTTP {status}, and no record that can be read: {error}") from error
    raise NoAccount(f"HTTP {status} for {request_id}")


def tell_record(screen: Screen, record: RequestRecord) -> None:
    """Attempts where there was more than one, then outcome, verdicts and costs."""
    if len(record.attempts) > 1:
        for attempt in record.attempts:
            bad = attempt.result not in {AttemptResult.VALID, AttemptResult.RELAYED}
            label = f"attempt {attempt.number}"
            screen.line(label, _attempt(attempt), Colour.BAD if bad else Colour.GOOD)
    colour = Colour.GOOD if record.outcome in _GOOD else Colour.BAD
    screen.line("outcome", _ending(record), colour)
    judged = ", ".join(_verdict(verdict) for verdict in record.verdicts)
    screen.line("gates", judged or "none applies to this request: relayed unjudged")
    if record.unchecked:
        screen.line("unchecked", ", ".join(record.unchecked), Colour.NOTE)
    screen.line("cost", _costs(record))


def tell_headers(screen: Screen, headers: Mapping[str, str]) -> None:
    """The same from the headers of the reply, as far as it carries them."""
    told = [
        f"{name} {headers[f'x-sluicegate-{name}']}"
        for name in ("outcome", "attempts", "verdicts", "policy", "overhead-ms", "held-ms")
        if f"x-sluicegate-{name}" in headers
    ]
    screen.line("headers", " | ".join(told) or "none of the proxy's own", Colour.NOTE)


def _attempt(attempt: AttemptRecord) -> str:
    engine = " (engine cold)" if attempt.cold else ""
    faults = f": {', '.join(attempt.faults)}" if attempt.faults else ""
    return f"{attempt.step}{engine}, {attempt.result}{faults}, {attempt.seconds:.2f} s"


def _ending(record: RequestRecord) -> str:
    calls = "1 attempt" if len(record.attempts) == 1 else f"{len(record.attempts)} attempts"
    parts = [f"{record.outcome}, {calls}, policy {record.policy or 'none'}"]
    if record.error_code:
        parts.append(f"error {record.error_code}")
    if record.repairs:
        parts.append(f"repairs {', '.join(record.repairs)}")
    return " | ".join(parts)


def _verdict(verdict: VerdictRecord) -> str:
    fault = f" ({verdict.fault})" if verdict.fault else ""
    return f"{verdict.gate} {verdict.result}{fault}"


def _costs(record: RequestRecord) -> str:
    parts = [
        f"{record.duration_seconds:.2f} s in all",
        f"proxy's own time {record.overhead_seconds * 1000:.2f} ms",
    ]
    if record.hold_seconds is not None:
        parts.append(f"held {record.hold_seconds * 1000:.0f} ms")
    if record.stream and record.ttfr_seconds is not None:
        parts.append(f"TTFR {record.ttfr_seconds:.3f} s")
    if record.tokens_per_second is not None:
        parts.append(f"{record.tokens_per_second:.0f} tok/s")
    return ", ".join(parts)
