import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from proxy.launch import keeper
from proxy.launch.keeper import Order
from proxy.launch.session import members
from tests.fakes.gate import eventually
from tests.fakes.processes import runs

# A child in the session, one that leaves it, and a word when all are there.
ENGINE = """
import signal, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
subprocess.Popen(sleep)
left = subprocess.Popen(sleep, start_new_session=True)
print(left.pid, flush=True)
if sys.argv[1] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[1] == "dies":
    sys.exit(7)
time.sleep(300)
"""


class Kept:
    """A keeper as the launcher has it, with the engine that it started."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", keeper.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.tell(msgspec.json.encode(Order(arguments, environment or dict(os.environ))))
        self.started = self.hear()
        self.pid: int = self.started.get("pid", 0)

    def tell(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline() or b"{}")

    @property
    def log(self) -> IO[bytes]:
        assert self.process.stderr
        return self.process.stderr

    def hang_up(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()
        self.process.wait()


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Kept]:
    """Which does what the test's parameter says, if it has one."""
    kept = Kept(sys.executable, "-c", ENGINE, getattr(request, "param", "lives"))
    yield kept
    kept.end()


def test_engine_gets_the_order_s_words_and_environment_and_no_input() -> None:
    tells = "import sys, os; print(sys.argv[1:], os.environ, repr(sys.stdin.read()))"
    kept = Kept(sys.executable, "-c", tells, "a b", "$(x)", environment={"A": "1"})

    said = kept.log.read().decode()
    ended = kept.hear()
    kept.end()

    assert said.startswith("['a b', '$(x)'] environ({'A': '1'")
    assert said.endswith("''\n")
    assert ended == {"type": "ended", "status": 0}


def test_program_that_cannot_be_started_is_told() -> None:
    kept = Kept("/no/such/program")
    kept.end()

    assert kept.started["type"] == "failed"
    assert "/no/such/program" in kept.started["reason"]


def test_clean_stop_reaches_the_first_process_and_ends_all(engine: Kept) -> None:
    left = int(engine.log.readline())

    engine.tell(b"terminate")

    assert engine.hear() == {"type": "ended", "status": -signal.SIGTERM}
    assert list(members(engine.pid)) == []
    assert not runs(left)


@pytest.mark.parametrize("engine", ["deaf"], indirect=True)
async def test_launcher_that_is_gone_takes_every_process_with_it(engine: Kept) -> None:
    left = int(engine.log.readline())

    engine.hang_up()

    assert engine.hear() == {"type": "ended", "status": -signal.SIGKILL}
    assert list(members(engine.pid)) == []
    assert not runs(left)


@pytest.mark.parametrize("engine", ["dies"], indirect=True)
def test_death_of_the_first_process_is_told_when_the_others_are_gone(engine: Kept) -> None:
    left = int(engine.log.readline())

    ended = engine.hear()

    assert ended == {"type": "ended", "status": 7}
    assert list(members(engine.pid)) == []
    assert not runs(left)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_signals_for_the_whole_service_do_not_end_the_keeper_before_its_engine(
    engine: Kept, number: signal.Signals
) -> None:
    engine.log.readline()

    os.kill(engine.process.pid, number)
    engine.tell(b"unknown words")
    engine.tell(b"terminate")

    assert engine.hear()["status"] == -signal.SIGTERM


async def test_signal_that_the_keeper_outlives_is_not_ignored_by_the_engine() -> None:
    kept = Kept(sys.executable, "-c", "import time; time.sleep(300)")
    await eventually(lambda: Path(f"/proc/{kept.pid}").exists())

    os.kill(kept.pid, signal.SIGHUP)

    assert kept.hear()["status"] == -signal.SIGHUP
    kept.end()
