import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.engines import keeper
from tests.engines.cache import Cache
from tests.engines.environment import VllmEnvironment
from tests.engines.server import Engine, ServerFailed, VllmServer
from tests.fakes.gate import eventually

# Like vLLM in what matters here: a child that survives it, and an answer only after a while.
STAND_IN = """
import http.server, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "VLLM::EngineCore"])

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'# HELP a\\na{b="1"} 2\\na{b="2"} 3.5\\n' if self.path == "/metrics" else b""
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told): ...

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers).serve_forever()
"""


def _server(folder: Path, source: str) -> VllmServer:
    python = folder / "own" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (folder / "stand_in.py").write_text(source)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/stand_in.py "$@"\n')
    python.chmod(0o755)
    cache = Cache(folder / "cache", lambda _: None)
    return VllmServer(Engine(VllmEnvironment("9.9.0", folder / "own", cache), folder, "tiny"))


async def test_server_is_ready_when_it_answers_and_gone_afterwards(tmp_path: Path) -> None:
    async with _server(tmp_path, STAND_IN) as server:
        pids = [member.pid for member in server.members()]
        metrics = await server.metrics()

    assert len(pids) == 2
    assert metrics == {"a": 5.5}
    assert server.members() == []


async def test_early_death_is_told_with_the_end_of_the_log(tmp_path: Path) -> None:
    server = _server(tmp_path, "raise SystemExit('no such model')")

    with pytest.raises(ServerFailed, match=r"status 1(?s:.*)no such model"):
        await server.__aenter__()

    assert server.members() == []


async def test_server_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    server = _server(tmp_path, "import time; print('loading', flush=True); time.sleep(300)")
    server.launch()
    await eventually(lambda: "loading" in server.log_tail())

    with pytest.raises(ServerFailed, match=r"not ready after 0 s(?s:.*)loading"):
        await server.until_ready(seconds=0)
    server.end()

    assert server.members() == []


async def test_killed_api_server_leaves_orphans_that_stopping_ends(tmp_path: Path) -> None:
    async with _server(tmp_path, STAND_IN) as server:
        server.kill_api_server()
        await eventually(lambda: server.status() is not None)
        orphans = [member.title for member in server.members()]

    assert len(orphans) == 1
    assert "EngineCore" in orphans[0]
    assert server.members() == []


async def test_engine_core_is_killed_alone(tmp_path: Path) -> None:
    async with _server(tmp_path, STAND_IN) as server:
        server.kill_engine_core()
        await eventually(lambda: len(server.members()) == 1)

        assert server.status() is None


async def test_failing_test_leaves_nothing_behind(tmp_path: Path) -> None:
    server = _server(tmp_path, STAND_IN)

    with pytest.raises(asyncio.CancelledError):
        async with server:
            raise asyncio.CancelledError

    assert server.members() == []


async def test_two_servers_of_one_address_follow_each_other(tmp_path: Path) -> None:
    first = _server(tmp_path / "first", STAND_IN)
    async with first:
        pass
    again = Engine(first.engine.environment, tmp_path, "tiny", port=first.port)

    async with VllmServer(again) as second:
        assert second.url == first.url
        assert os.getsid(second.pid) == second.pid
        assert list(keeper.members(first.pid)) == []
