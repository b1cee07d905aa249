"""`sluicegate recipe up` with SmolLM2 and MTP: one whole life, one that is killed, one failure."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import openai
import pytest
import pytest_asyncio
import yaml

from proxy.launch.session import Member, end_session, members
from tests.e2e.vllm.stage import ASKS_FOR_A_CITY, CITY, says, strict, until
from tests.engines.cache import Say
from tests.engines.environment import VllmEnvironment
from tests.engines.server import free_port
from tests.engines.smollm import CONTEXT_TOKENS, SEQUENCES, provide_smollm

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.usefixtures("in_order"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300, func_only=True),
]

ROOT: Final = Path(__file__).parents[3]
PROGRAM: Final = ROOT / "sluicegate.py"
COMMAND: Final = (
    "vllm serve {checkpoint} --served-model-name {model} --host 127.0.0.1 --port {port}",
    "--max-model-len {max_model_len} --max-num-seqs {max_num_seqs} --enforce-eager",
    "--enable-prefix-caching --speculative-config '{speculative_config}'",
    "--structured-outputs-config '{structured_outputs_config}'",
)
MTP2: Final = {"method": "mtp", "num_speculative_tokens": 2}
GRAMMAR: Final = {"backend": "xgrammar", "disable_any_whitespace": True}


class Launcher:
    """`recipe up` as a process of its own, in a folder with its recipe, ledger and logs."""

    def __init__(self, environment: VllmEnvironment, folder: Path, checkpoint: Path | str) -> None:
        self.port, self.proxy_port, self.admin_port = free_port(), free_port(), free_port()
        self.told = folder / "told.txt"
        self._environment = environment
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        (folder / "tiny.yaml").write_text(
            yaml.safe_dump(
                {
                    "recipe_version": "2",
                    "model": "tiny",
                    "container": "none",
                    "defaults": {
                        "checkpoint": str(checkpoint),
                        "port": self.port,
                        "max_model_len": CONTEXT_TOKENS,
                        "max_num_seqs": SEQUENCES,
                        "speculative_config": json.dumps(MTP2),
                        "structured_outputs_config": json.dumps(GRAMMAR),
                    },
                    "env": {"VLLM_CPU_KVCACHE_SPACE": 1},
                    "command": " \\\n  ".join(COMMAND),
                }
            )
        )

    async def start(self, *arguments: str) -> None:
        vllm = self._environment.folder / "bin" / "vllm"
        with self.told.open("wb") as told:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(PROGRAM), "recipe", "up", "tiny.yaml"),
                *("--vllm", str(vllm), "--log-folder", "logs", *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=told,
                cwd=self._folder,
                env={**self._environment.variables(), "PYTHONPATH": str(ROOT)},
            )

    async def shows(self, text: str, seconds: float = 240) -> None:
        """Wait until it stands on the screen."""

        async def stands() -> bool:
            assert self.process.returncode is None, self.told.read_text()
            return text in self.told.read_text()

        await until(stands, seconds)

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    def engine(self) -> list[Member]:
        """Every process of the engine: its session is that of the keeper's child."""
        found = (member for session in self._sessions() for member in members(session))
        return list(found)

    async def command(self, *arguments: str) -> Any:
        """The JSON that another command of the program prints."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(PROGRAM), *arguments, "--json"),
            stdout=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env={**self._environment.variables(), "PYTHONPATH": str(ROOT)},
        )
        out, _ = await process.communicate()
        return json.loads(out)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        for session in self._sessions():
            end_session(session)

    def _sessions(self) -> Iterator[int]:
        """Of the vLLM that listens on our port, whoever its parent is now."""
        wanted = [b"serve", b"--port", str(self.port).encode()]
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if not entry.name.isdigit():
                    continue
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if all(word in words for word in wanted):
                    yield os.getsid(int(entry.name))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def up(
    vllm_0_32: VllmEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Launcher]:
    """A recipe that is up, with the proxy before it."""
    folder = tmp_path_factory.mktemp("up")
    launcher = Launcher(vllm_0_32, folder, provide_smollm(vllm_0_32))
    ports = ("--port", str(launcher.proxy_port), "--admin-port", str(launcher.admin_port))
    await launcher.start("--with-proxy", *ports)
    yield launcher
    launcher.end()


async def test_boot_is_shown_phase_by_phase_until_it_is_ready(up: Launcher, note: Say) -> None:
    await up.shows("Ctrl-C stops it.")

    told = up.told.read_text()
    note(next(line for line in told.splitlines() if line.startswith("Ready after")))
    for phase in ("program", "arguments", "engine", "weights", "KV cache", "server"):
        assert f"\n  {phase} " in told
    assert f"http://127.0.0.1:{up.port}/v1" in told
    assert "vLLM runs the same MTP layer" in told
    assert len(up.engine()) >= 3


async def test_proxy_before_it_answers_with_strict_json(up: Launcher) -> None:
    url = f"http://127.0.0.1:{up.proxy_port}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="none", timeout=120) as client:
        reply = await client.chat.completions.create(
            model="tiny",
            messages=says(ASKS_FOR_A_CITY),
            response_format=strict(CITY),
            temperature=0,
            max_tokens=100,
        )

    assert json.loads(reply.choices[0].message.content or "")["city"] == "Paris"


async def test_facts_of_log_and_endpoints_are_in_the_ledger_with_the_first_answer(
    up: Launcher,
) -> None:
    async def is_judged() -> bool:
        (start,) = (await up.command("ledger", "starts"))["starts"]
        return bool(start.get("first_answer") == "valid")

    await until(is_judged)
    (start,) = (await up.command("ledger", "starts"))["starts"]

    facts = {
        "vllm": "0.32.0",
        "model": "tiny",
        "max_model_len": str(CONTEXT_TOKENS),
        "speculative": "True",
        "speculative_tokens": "2",
        "same_mtp_layer": "warned",
        "contradicts": "nothing",
    }
    assert facts.items() <= start["facts"].items()
    assert start["facts"]["speculative_config"].startswith("method=mtp")
    assert int(start["facts"]["kv_cache_tokens"]) > CONTEXT_TOKENS
    assert float(start["facts"]["engine_seconds"]) > 0
    assert start["facts"]["torch"].startswith("2.")
    assert (start["untouched"], start["clean"]) == (True, True)
    assert start["ready_seconds"] > 5


async def test_stop_leaves_no_process_and_ends_well(up: Launcher) -> None:
    sessions = [os.getsid(member.pid) for member in up.engine()]

    up.process.send_signal(signal.SIGTERM)
    status = await up.process.wait()

    assert status == 0
    assert up.told.read_text().endswith("Stopped; no process of the engine is left.\n")
    assert not [member for session in sessions for member in members(session)]


async def test_launcher_that_is_killed_takes_the_engine_with_it(
    vllm_0_32: VllmEnvironment, tmp_path: Path
) -> None:
    launcher = Launcher(vllm_0_32, tmp_path, provide_smollm(vllm_0_32))
    try:
        await launcher.start()
        await launcher.shows("\n  arguments ")
        engine = launcher.engine()
        sessions = {os.getsid(member.pid) for member in engine}

        launcher.process.kill()

        async def is_gone() -> bool:
            return not [member for session in sessions for member in members(session)]

        await until(is_gone, seconds=10)
        assert len(engine) >= 2
    finally:
        launcher.end()


async def test_model_that_is_not_there_is_explained(
    vllm_0_32: VllmEnvironment, tmp_path: Path
) -> None:
    launcher = Launcher(vllm_0_32, tmp_path, "/no/such/model")
    try:
        await launcher.start()
        status = await launcher.process.wait()
    finally:
        launcher.end()

    told = launcher.told.read_text()
    assert status == 2
    assert "there is no model in /no/such/model" in told
    assert "remedy: check the path" in told
    assert "HFValidationError" in told
