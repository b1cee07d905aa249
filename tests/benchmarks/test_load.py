"""The load as a command, before the fake upstream."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from asks import Ask, chat_request

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
async def address() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(BENCHMARKS / "fake_upstream.py"),
        "--port",
        "0",
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.communicate()


async def load(address: str, kind: str, *options: str) -> dict[str, Any]:
    command = (str(BENCHMARKS / "load.py"), "--url", address, "--kind", kind, *options)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    figures: dict[str, Any] = json.loads(output)
    return figures


async def successes(address: str) -> int:
    async with aiohttp.ClientSession(address) as session, session.get("/metrics") as reply:
        page = await reply.text()
    (line,) = (line for line in page.splitlines() if line.startswith("vllm:request_success_total"))
    return int(line.rpartition(" ")[2])


@pytest.mark.parametrize("kind", ["json", "stream"])
@pytest.mark.parametrize("ask", ["plain", "strict", "call"])
async def test_count_is_kept_to_the_request(address: str, kind: str, ask: str) -> None:
    figures = await load(address, kind, "--ask", ask, "--count", "37", "--concurrency", "4")

    assert figures["replies"] == figures["completed"] == 37
    assert figures["errors"] == 0
    assert await successes(address) == 37


async def test_client_leaves_streams_before_their_end(address: str, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_bytes(chat_request(Ask.PLAIN, stream=True, pace_ms=20))

    figures = await load(address, "left", "--count", "3", "--body", str(body))

    assert figures["replies"] == 3
    assert figures["errors"] == 0
    assert await successes(address) == 0


async def test_paced_load_knows_the_way_of_the_first_token(address: str) -> None:
    figures = await load(address, "paced", "--count", "1", "--concurrency", "1")

    assert figures["way_samples"] == 1
    assert 0 < figures["way_p50_ms"] < figures["p99_ms"]
    assert figures["lag_p50_ms"] > 0


async def test_reply_of_another_status_is_an_error(address: str) -> None:
    figures = await load(address, "json", "--count", "3", "--status", "422")

    assert figures["errors"] == 3
    assert figures["replies"] == 0


async def test_headers_of_a_contender_are_sent() -> None:
    seen = asyncio.Queue[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.put_nowait(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        figures = await load(address, "json", "--count", "1", "--header", "x-who: load")

    assert figures["replies"] == 1
    assert b"\r\nx-who: load\r\n" in await seen.get()
