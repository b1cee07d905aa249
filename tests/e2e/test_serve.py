"""The command `serve` as a process: signals, ports, mistakes in its settings."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.fakes.probe import INVALID, VALID
from tests.fakes.upstream import End, Scripted, chunk, fake_upstream, stream

STREAMED = {"model": "tiny", "messages": [], "stream": True}
ROOT = Path(__file__).parents[2]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


async def _spawn(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "sluicegate.py"),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SLUICEGATE_LEDGER__URL": "none"},
    )


@asynccontextmanager
async def _serving(
    upstream: str, *more: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    port = _free_port()
    process = await _spawn(
        *("serve", "--upstream", upstream, "--port", str(port), "--admin-port", "0", *more)
    )
    assert process.stderr
    try:
        async with asyncio.timeout(20):
            while b"policies" not in await process.stderr.readline():
                pass
        yield process, f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_sigterm_lets_a_running_stream_finish() -> None:
    slow = stream(["a"] * 20, pause_seconds=0.05, usage=None)
    async with fake_upstream(slow) as upstream, _serving(upstream.url) as (process, url):
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{url}/v1/chat/completions", json=STREAMED) as response,
        ):
            await response.content.readany()
            process.send_signal(signal.SIGTERM)
            rest = await response.content.read()
        async with asyncio.timeout(10):
            status = await process.wait()

    assert rest.endswith(b"data: [DONE]\n\n")
    assert status == 0


async def test_drain_refuses_new_requests_and_ends_old_ones_with_an_error_event() -> None:
    hanging = Scripted((chunk({"content": "a"}),), content_type="text/event-stream", end=End.HANG)
    more = ("--set", "drain_seconds=0.5")
    async with fake_upstream(hanging) as upstream, _serving(upstream.url, *more) as (process, url):
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{url}/v1/chat/completions", json=STREAMED) as response,
        ):
            await response.content.readany()
            process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.1)
            async with http.post(f"{url}/v1/chat/completions", json=STREAMED) as refused:
                refusal = refused.status, refused.headers["retry-after"]
            rest = await response.content.read()
        async with asyncio.timeout(10):
            status = await process.wait()

    assert refusal == (503, "1")
    assert b'"draining"' in rest
    assert b"[DONE]" not in rest
    assert status == 0


async def test_second_signal_ends_the_drain_at_once() -> None:
    hanging = Scripted((chunk({"content": "a"}),), content_type="text/event-stream", end=End.HANG)
    async with (
        fake_upstream(hanging) as upstream,
        _serving(upstream.url) as (process, url),
        aiohttp.ClientSession() as http,
        http.post(f"{url}/v1/chat/completions", json=STREAMED) as response,
    ):
        await response.content.readany()
        process.send_signal(signal.SIGINT)
        await asyncio.sleep(0.2)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(5):
            rest = await response.content.read()
            status = await process.wait()

    assert b'"draining"' in rest
    assert status == 0


async def test_log_is_one_json_line_per_request() -> None:
    async with (
        fake_upstream(stream(["a"])) as upstream,
        _serving(upstream.url) as (process, url),
        aiohttp.ClientSession() as http,
    ):
        async with http.post(f"{url}/v1/chat/completions", json=STREAMED) as response:
            await response.read()
        process.send_signal(signal.SIGTERM)
        out, _ = await process.communicate()

    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines] == [response.headers["x-request-id"]]
    assert lines[0]["outcome"] == "passed"


async def test_probe_is_told_of_on_stderr_without_a_word_of_the_text() -> None:
    ports = ("--port", "0", "--admin-port", "0")
    probe = ("--set", "lanes.main.probe={prompt: a secret}")
    lines = [""]
    async with fake_upstream(INVALID, VALID) as upstream:
        process = await _spawn("serve", "--upstream", upstream.url, *ports, *probe)
        assert process.stderr
        try:
            while not lines[-1].endswith("passed"):
                lines.append((await process.stderr.readline()).decode().rstrip())
        finally:
            process.kill()
            await process.communicate()

    told = [line.partition(" probe of lane ")[2] for line in lines]
    assert [line for line in told if line] == [
        "main, engine start 1: case 1 invalid (leading_junk)",
        "main, engine start 1: case 2 valid, 1 of 1 in a row: passed",
    ]
    assert "secret" not in "".join(lines)


async def test_busy_port_is_named_with_the_flag_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = await _spawn("serve", "--upstream", "http://127.0.0.1:1", "--port", port)
        _, err = await process.communicate()

    assert process.returncode == 2
    assert f"127.0.0.1:{port}" in err.decode()
    assert "--port" in err.decode()
    assert "Traceback" not in err.decode()


async def test_all_mistakes_in_the_settings_are_told_at_once(tmp_path: Path) -> None:
    settings = tmp_path / "sluicegate.yaml"
    settings.write_text("listn: {port: 1}\nlimits: {idle_seconds: soon}\n")
    process = await _spawn("serve", "--config", str(settings), "--port", "high")
    _, err = await process.communicate()

    told = err.decode()
    assert process.returncode == 2
    assert "sluicegate.yaml:1:1" in told
    assert "`listen`" in told
    assert "sluicegate.yaml:2:24" in told
    assert "--port" in told
    assert "Traceback" not in told


async def test_broken_policy_stops_the_start_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "production.yaml").write_text(
        "format: 1\nname: production\ngates: {strict_jsn: {}}\n"
    )
    process = await _spawn(
        *("serve", "--upstream", "http://127.0.0.1:1", "--policies", str(tmp_path)),
        *("--port", "0", "--admin-port", "0"),
    )
    _, err = await process.communicate()

    assert process.returncode == 2
    assert "production.yaml:3:9" in err.decode()
    assert "strict_json" in err.decode()
