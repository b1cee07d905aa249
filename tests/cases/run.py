"""Runs one case: upstream, proxy and client on sockets; what they saw is handed to the checks."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiohttp

from proxy.app import Surroundings
from tests.cases.case import Answer, Case, ClientScript
from tests.cases.mapping import POLICY_NAME, Setup
from tests.cases.reading import Told, event_data, read_told
from tests.cases.upstream import AnnouncingLane, CaseUpstream, UpstreamCall, case_upstream
from tests.fakes.gate import Gate, running_gate

SAME_AGAIN: Final = "same with a normal upstream"
_GIVE_UP_SECONDS: Final = 30.0
# A call that must be closed is closed within a second; a record follows its reply at once.
_SETTLE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what its client got. `status` is None when no head came, or it had left.

    `dropped`: the connection broke before the reply was over. `record`: what the look-up tells.
    """

    request: Mapping[str, Any]
    status: int | None
    headers: Mapping[str, str]
    body: bytes
    dropped: bool
    record: Mapping[str, Any]

    @property
    def told(self) -> Told:
        return read_told(self.body, self.headers.get("content-type", ""))

    @property
    def attempts(self) -> list[Mapping[str, Any]]:
        return list(self.record.get("attempts", ()))


@dataclass(frozen=True, slots=True)
class Seen:
    """All that one run of a case showed. `then`: the exchange that `expect.then` asks for."""

    case: Case
    exchanges: tuple[Exchange, ...]
    calls: tuple[UpstreamCall, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]
    open_connections: int
    then: Exchange | None

    @property
    def first(self) -> Exchange:
        return self.exchanges[0]


async def run_case(case: Case, setup: Setup) -> Seen:
    """Play a case. Raises `TimeoutError` when it does not end."""
    async with (
        asyncio.timeout(_GIVE_UP_SECONDS),
        case_upstream(case.answers, lone=case.lone_answer) as upstream,
        _gate(upstream, setup) as gate,
    ):
        # The proxy is new: what its probe has counted by now belongs to the case.
        before = dict.fromkeys(await gate.metrics(), 0.0)
        exchanges = [
            await _exchange(gate, upstream, _request(case, number), case.client)
            for number in range(case.client.repeat)
        ]
        await _within(lambda: all(_is_over(call) for call in upstream.calls))
        await _within(lambda: upstream.open_connections == 0)
        calls, still_open = tuple(upstream.calls), upstream.open_connections
        after = await gate.metrics()
        return Seen(
            case=case,
            exchanges=tuple(exchanges),
            calls=calls,
            before=before,
            after=after,
            open_connections=still_open,
            then=await _then(gate, upstream, case),
        )


@asynccontextmanager
async def _gate(upstream: CaseUpstream, setup: Setup) -> AsyncIterator[Gate]:
    with TemporaryDirectory() as folder:
        _write(folder, setup.policy)
        around = Surroundings(
            environ={}, log=io.StringIO(), wrap_lane=lambda lane: AnnouncingLane(lane, upstream)
        )
        settings = {"policies.folder": folder, **setup.settings}
        async with running_gate(upstream.url, settings, around) as gate:
            yield gate


def _write(folder: str, policy: str) -> None:
    (Path(folder) / f"{POLICY_NAME}.yaml").write_text(policy, encoding="utf-8")


def _request(case: Case, number: int) -> Mapping[str, Any]:
    if case.client.vary is None:
        return case.request
    name, text = case.client.vary
    return {**case.request, name: text.replace("<n>", str(number))}


async def _exchange(
    gate: Gate, upstream: CaseUpstream, request: Mapping[str, Any], client: ClientScript
) -> Exchange:
    """Send one request and read its reply, or leave as the script says."""
    leave_after = client.disconnect_after_events
    if leave_after == 0:
        return await _left_at_once(gate, upstream, request, client)
    status: int | None = None
    headers: Mapping[str, str] = {}
    body = bytearray()
    dropped = False
    try:
        async with _post(gate, request, client) as response:
            status, headers = response.status, _lower(response.headers)
            async for piece in response.content.iter_any():
                body += piece
                if leave_after and len(list(event_data(bytes(body)))) >= leave_after:
                    status = None
                    response.close()
                    break
    except aiohttp.ClientError:
        dropped = True
    record = await _record(gate, headers.get("x-request-id"))
    return Exchange(request, status, headers, bytes(body), dropped, record)


async def _left_at_once(
    gate: Gate, upstream: CaseUpstream, request: Mapping[str, Any], client: ClientScript
) -> Exchange:
    """Send a request and hang up when the upstream has it; the id is ours, since no head comes."""
    name, before = "left-at-once", len(upstream.calls)
    known = ClientScript(headers=(*client.headers, ("x-request-id", name)))

    async def wait() -> None:
        async with _post(gate, request, known) as response:
            await response.read()

    waiting = asyncio.create_task(wait())
    await _within(lambda: len(upstream.calls) > before)
    waiting.cancel()
    await asyncio.wait({waiting})
    return Exchange(request, None, {}, b"", dropped=False, record=await _record(gate, name))


def _post(
    gate: Gate, request: Mapping[str, Any], client: ClientScript
) -> "aiohttp.client._RequestContextManager":
    return gate.http.post(
        f"{gate.url}/v1/chat/completions",
        data=io.BytesIO(json.dumps(request).encode()),
        headers={"content-type": "application/json", **dict(client.headers)},
    )


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


async def _record(gate: Gate, request_id: str | None) -> Mapping[str, Any]:
    """The record of a request; it comes a moment after the reply. Empty where there is none."""
    found: dict[str, Any] = {}

    async def look() -> bool:
        url = f"{gate.admin_url}/sluicegate/requests/{request_id}"
        async with gate.http.get(url) as response:
            if response.status == 200:
                found.update(await response.json())
        return bool(found)

    if request_id is not None:
        await _until(look)
    return found


async def _then(gate: Gate, upstream: CaseUpstream, case: Case) -> Exchange | None:
    """The same request once more before an upstream that answers as it should."""
    wanted = case.expect.get("then", {})
    if not isinstance(wanted, dict) or wanted.get("request") != SAME_AGAIN:
        return None
    upstream.play_now(_normal_answer(stream=bool(case.request.get("stream"))))
    try:
        async with asyncio.timeout(wanted.get("within_s", _GIVE_UP_SECONDS)):
            return await _exchange(gate, upstream, case.request, ClientScript())
    except TimeoutError:
        return Exchange(case.request, None, {}, b"", dropped=True, record={})


def _normal_answer(*, stream: bool) -> Answer:
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    turn = {"role": "assistant", "content": "{}"}
    document = {"id": "chatcmpl-then", "choices": [choice | {"message": turn}]}
    if not stream:
        return Answer((json.dumps(document).encode(),))
    chunk = {"id": "chatcmpl-then", "choices": [choice | {"delta": turn}]}
    return Answer((f"data: {json.dumps(chunk)}\n\n".encode(), b"data: [DONE]\n\n"), is_stream=True)


def _is_over(call: UpstreamCall) -> bool:
    return call.received is None or call.received.over.is_set()


async def _within(condition: Callable[[], bool]) -> None:
    """Give a condition time to come true; the checks say whether it did."""

    async def check() -> bool:
        return condition()

    await _until(check)


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            while not await condition():  # noqa: ASYNC110 - a condition has no event
                await asyncio.sleep(0.005)
    except TimeoutError:
        pass
