import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from proxy.bench.contract_server import ContractServer, RawAnswer, UnusableServer
from proxy.errors import BadReply, TimedOut, Unreachable
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream

MODELS = Scripted((json.dumps({"data": [{"id": "tiny"}, {"id": "large"}]}).encode(),))


@asynccontextmanager
async def served(
    *script: Scripted, models: Scripted = MODELS, key: str | None = None
) -> AsyncIterator[tuple[ContractServer, FakeUpstream]]:
    async with fake_upstream(*script) as upstream:
        upstream.pages["/v1/models"] = models
        server = ContractServer(upstream.url, "editorial-de", key=key, timeout_seconds=0.5)
        try:
            yield server, upstream
        finally:
            await server.close()


@pytest.mark.parametrize(("wanted", "model"), [(None, "tiny"), ("large", "large")])
async def test_model_is_the_wanted_one_else_the_first(wanted: str | None, model: str) -> None:
    async with served() as (server, _):
        assert await server.model(wanted) == model


async def test_wanted_model_is_taken_where_the_server_lists_none() -> None:
    async with served(models=Scripted((b"{}",), status=404)) as (server, _):
        assert await server.model("any") == "any"


@pytest.mark.parametrize(
    ("models", "wanted", "told"),
    [
        (MODELS, "huge", "does not serve `huge`; it serves: tiny, large."),
        (Scripted((b"<html>",), status=404), None, "names no model (status 404)"),
        (Scripted((b"<html>",)), None, "--model"),
        (Scripted((b'{"error":{"message":"who?"}}',), status=401), None, "--api-key-env"),
    ],
    ids=["other model", "other path", "no list", "no key"],
)
async def test_server_without_a_usable_model_says_what_to_do(
    models: Scripted, wanted: str | None, told: str
) -> None:
    async with served(models=models) as (server, _):
        with pytest.raises(UnusableServer) as caught:
            await server.model(wanted)

    assert told in str(caught.value)


async def test_server_that_is_not_there_is_told_by_its_address() -> None:
    server = ContractServer("http://127.0.0.1:1", "p")
    try:
        with pytest.raises(UnusableServer, match=r"127\.0\.0\.1:1: .*--base-url"):
            await server.model(None)
        with pytest.raises(Unreachable):
            await server.ask(b"{}")
    finally:
        await server.close()


async def test_request_names_its_policy_for_a_gate_and_carries_the_key() -> None:
    async with served(completion("Hi."), key="k1") as (server, upstream):
        answer = await server.ask(b'{"model": "tiny"}')

    (call,) = upstream.calls
    assert answer.is_ok
    assert call.path == "/v1/chat/completions"
    assert call.json == {"model": "tiny"}
    assert call.headers["x-sluicegate-policy"] == "editorial-de"
    assert call.headers["authorization"] == "Bearer k1"


async def test_headers_of_a_gate_are_seen() -> None:
    reply = Scripted((b"{}",), status=422, headers=(("X-Sluicegate-Outcome", "parked"),))

    async with served(reply) as (server, _):
        answer = await server.ask(b"{}")

    assert not answer.is_ok
    assert answer.headers["x-sluicegate-outcome"] == "parked"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Scripted((b"{",), end=End.CUT), BadReply),
        (Scripted((b"{",), end=End.HANG), TimedOut),
        (Scripted((), raw=b"nonsense\r\n\r\n"), BadReply),
    ],
    ids=["broken off", "silent", "no HTTP"],
)
async def test_answer_that_does_not_come_is_an_error(
    reply: Scripted, error: type[Exception]
) -> None:
    async with served(reply) as (server, _):
        with pytest.raises(error):
            await server.ask(b"{}")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error": {"message": "too long"}}', "status 400: too long"),
        (b"<html>", "status 400"),
        (b"\xff", "status 400"),
    ],
)
def test_refusal_tells_what_the_server_says(body: bytes, told: str) -> None:
    assert RawAnswer(400, {}, body).refusal == told
