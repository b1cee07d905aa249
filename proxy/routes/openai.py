"""The OpenAI-compatible surface as a raw ASGI application: the hot path of the proxy.

authenticate -> read -> parse once -> choose policy -> plan -> admit -> exchange -> record
"""

import asyncio
import logging
import random
import re
import traceback
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final

from proxy.contract.admission import Admission
from proxy.contract.exchange import Exchange
from proxy.contract.headers import NO_RETRY
from proxy.contract.job import Arrival, Job, Parts
from proxy.contract.plan import LOOK_UP, UNCOVERED, Plan, make_plan
from proxy.contract.policy import Policy
from proxy.contract.policy_set import PolicySet
from proxy.contract.usage import lacks_usage, with_usage
from proxy.errors import (
    BodyTooSlow,
    Forbidden,
    InternalError,
    Interrupted,
    InvalidRequest,
    NotReady,
    ReplyableError,
    Unauthorized,
    UnsupportedEncoding,
)
from proxy.keys import KeyRing
from proxy.routes.asgi import (
    AsgiClient,
    ClientGone,
    RawHeaders,
    Receive,
    Scope,
    Send,
    forwarded_headers,
    header,
    read_body,
)
from proxy.routes.bearer import bearer_token
from proxy.routes.paths import Path, find_path
from proxy.routes.running import Ended, Running, RunningVisits
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.record import RequestRecord
from proxy.telemetry.recorder import Describe, Recorder
from proxy.wire.request import MalformedBody, Request, read_request
from proxy.wire.sse import event

_LOG: Final = logging.getLogger(__name__)
_REQUEST_ID: Final = re.compile(r"[!-~]{1,128}")
_CLIENT_GONE_STATUS: Final = 499


@dataclass(frozen=True, slots=True)
class Door:
    """What the surface itself decides by. Sizes in bytes, times in seconds.

    `admission` bounds what generates, `open_admission` the rest.
    """

    policies: PolicySet
    admission: Admission
    open_admission: Admission
    keys: KeyRing | None
    request_bytes: int
    body_seconds: float
    write_seconds: float
    refuse_unjudged: bool


@dataclass(slots=True)
class Gateway:
    """Serves every relayed path. `draining`: new requests are refused."""

    door: Door
    parts: Parts
    recorder: Recorder
    running: RunningVisits = field(default_factory=RunningVisits)
    draining: bool = False
    in_flight: int = 0
    ids: random.Random = field(default_factory=random.Random)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.in_flight += 1
        try:
            describe = await _Visit(self, scope, receive, send).serve()
        finally:
            self.in_flight -= 1
        self.recorder.add(describe)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A request that was read and planned, and the admission it needs."""

    request: Request
    policy: Policy | None
    plan: Plan
    admission: Admission


class _Visit:
    """One HTTP request on its way through the surface."""

    def __init__(self, gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
        self._received = gateway.parts.clock.now()
        self._unix = gateway.parts.clock.unix()
        self._gateway = gateway
        self._scope = scope
        self._receive = receive
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._id = _request_id(self._headers, gateway.ids)
        self._client = AsgiClient(send, self._id)
        self._endpoint = Endpoint.OTHER
        self._key: str | None = None
        self._read_seconds = 0.0
        self._exchange: Exchange | None = None

    async def serve(self) -> Describe:
        """Serve the client whatever comes; what makes the record of it."""
        try:
            return await self._serve_until_ended()
        except ReplyableError as error:
            await self._refuse(error)
            return self._bare(Outcome.REFUSED, error.status, error.code)
        except ClientGone:
            return self._bare(Outcome.CLIENT_GONE, _CLIENT_GONE_STATUS, None)
        except Exception as error:  # noqa: BLE001 - the one place where a fault of ours becomes a reply
            # Frames only: the message of an exception may quote a prompt.
            frames = "".join(traceback.format_tb(error.__traceback__))
            _LOG.error("request %s failed: %s\n%s", self._id, type(error).__name__, frames)
            failure = InternalError("The proxy failed on this request; its log says where.")
            await self._refuse(failure)
            return self._bare(Outcome.UPSTREAM_FAILED, failure.status, failure.code)

    async def _serve_until_ended(self) -> Describe:
        """The client's leaving and a drain end the visit in any phase."""
        with self._gateway.running.one() as running:
            try:
                return await self._serve(running)
            except asyncio.CancelledError:
                if running.ended is None:
                    raise
                running.take_back()
        exchange = self._exchange
        if running.ended is Ended.BODY_TOO_SLOW:
            seconds = self._gateway.door.body_seconds
            raise BodyTooSlow(f"The body did not arrive within {seconds:g} s.")
        if running.ended is Ended.MUST_STOP:
            if exchange is None:
                raise _draining()
            await exchange.stop(Interrupted("The proxy stopped before the reply was complete."))
        if exchange is None:
            raise ClientGone
        return exchange.record

    async def _serve(self, running: Running) -> Describe:
        door, now = self._gateway.door, self._gateway.parts.clock.now
        path = self._enter()
        deadline = asyncio.get_running_loop().call_later(
            door.body_seconds, running.end, Ended.BODY_TOO_SLOW
        )
        try:
            body = await read_body(self._receive, self._headers, limit_bytes=door.request_bytes)
        finally:
            deadline.cancel()
        self._read_seconds = now() - self._received
        running.watch(self._receive, self._client)
        wanted = await self._plan(path, body)
        if wanted.request.stream:
            running.watch_writes(self._client, door.write_seconds)
        asked = now()
        waited = 0.0
        admission: AbstractAsyncContextManager[object] = wanted.admission
        readiness = self._gateway.parts.readiness
        if readiness is not None and not readiness.is_open and wanted.plan is not LOOK_UP:
            await readiness.wait()
            waited = now() - asked
            admission = wanted.admission.kept()
        async with admission:
            exchange = Exchange(self._job(wanted, now() - asked, waited), self._client)
            self._exchange = exchange
            await exchange.run()
        return exchange.record

    def _enter(self) -> Path:
        """Find the path and check what can be told from the headers alone."""
        door = self._gateway.door
        path = find_path(
            self._scope["path"], self._scope["method"], refuse_unjudged=door.refuse_unjudged
        )
        self._endpoint = path.endpoint
        if self._gateway.draining:
            raise _draining()
        self._key = _key_name(door.keys, self._headers)
        _refuse_encoding(self._headers)
        return path

    async def _plan(self, path: Path, body: bytes) -> _Wanted:
        door, parts = self._gateway.door, self._gateway.parts
        if not path.generates:
            plan = LOOK_UP if path.judged else UNCOVERED
            return _Wanted(Request(body), None, plan, door.open_admission)
        request = _read(body)
        name = header(self._headers, b"x-sluicegate-policy")
        policy = door.policies.choose(request.model, path.endpoint, name)
        if policy is None and door.refuse_unjudged:
            raise Forbidden(
                "No policy is for this request, and `unjudged: refuse` closes such ones.",
                code="no_policy",
            )
        plan = await make_plan(
            request,
            path.endpoint,
            policy,
            parts.judge.asking(request).applies,
            observe=parts.observe,
        )
        return _Wanted(request, policy, plan, door.admission)

    def _job(self, wanted: _Wanted, queue_seconds: float, ready_seconds: float) -> Job:
        gateway, endpoint, request = self._gateway, self._endpoint, wanted.request
        query: bytes = self._scope["query_string"]
        target = self._scope["raw_path"] + (b"?" + query if query else b"")
        arrival = Arrival(
            id=self._id,
            endpoint=endpoint,
            method=self._scope["method"],
            path=target.decode("latin-1"),
            headers=forwarded_headers(self._headers, self._id, with_key=gateway.door.keys is None),
            request=request,
            received_at=self._received,
            received_unix=self._unix,
            key=self._key,
            read_seconds=self._read_seconds,
            queue_seconds=queue_seconds,
            ready_seconds=ready_seconds,
        )
        hides_usage = gateway.parts.inject_usage and lacks_usage(request, endpoint)
        body = with_usage(request) if hides_usage else request.body
        return Job(gateway.parts, arrival, wanted.policy, wanted.plan, body, hides_usage)

    async def _refuse(self, error: ReplyableError) -> None:
        """Answer an error from outside the exchange; the rest of a body is not read."""
        if self._client.ended:
            return
        if self._client.started:
            await self._client.end(event(error.body()))
            return
        headers = [("content-type", "application/json"), ("connection", "close")]
        if error.retry_after_seconds is not None:
            headers.append(("retry-after", str(error.retry_after_seconds)))
        if error.after_dispatch:
            headers.append(NO_RETRY)
        await self._client.reply(error.status, headers, error.body())

    def _bare(self, outcome: Outcome, status: int, code: str | None) -> Describe:
        """A record without an exchange."""
        record = RequestRecord(
            id=self._id,
            received_at=self._unix,
            endpoint=self._endpoint,
            outcome=outcome,
            status=status,
            key=self._key,
            error_code=code,
            duration_seconds=self._gateway.parts.clock.now() - self._received,
        )
        return lambda: record


def _draining() -> NotReady:
    return NotReady("The proxy is shutting down.", code="draining", retry_after_seconds=1)


def _request_id(headers: RawHeaders, ids: random.Random) -> str:
    """The client's own id if it is a printable word, else a new one."""
    given = header(headers, b"x-request-id")
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return f"{ids.getrandbits(128):032x}"


def _key_name(keys: KeyRing | None, headers: RawHeaders) -> str | None:
    if keys is None:
        return None
    given = header(headers, b"authorization") or ""
    token = bearer_token(given) or header(headers, b"x-api-key") or ""
    if not token:
        raise Unauthorized("This proxy needs a key: send `Authorization: Bearer …`.")
    name = keys.name_of(token)
    if name is None:
        raise Unauthorized("The key is not known to this proxy.")
    return name


def _refuse_encoding(headers: RawHeaders) -> None:
    encoding = header(headers, b"content-encoding")
    if encoding is not None and encoding.lower() != "identity":
        raise UnsupportedEncoding(
            "The body is compressed; send it as it is.", param="content-encoding"
        )


def _read(body: bytes) -> Request:
    try:
        return read_request(body)
    except MalformedBody as error:
        raise InvalidRequest(str(error), param=error.param or None) from error
