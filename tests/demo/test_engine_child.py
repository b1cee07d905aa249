import asyncio
import os
import signal
import sys

import pytest

WATCHING_CHILD = """
import threading
from proxy.demo.engine_child import die_with_parent
die_with_parent(0)
print("watching", flush=True)
threading.Event().wait()
"""
PARENT = f"""
import subprocess, sys
command = [sys.executable, "-c", {WATCHING_CHILD!r}]
subprocess.Popen(command, stdin=%s, start_new_session=True).wait()
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own watch is Linux's")


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param("subprocess.PIPE", id="end_of_file"),
        pytest.param("0", id="kernel_alone", marks=linux),
    ],
)
async def test_child_dies_with_a_parent_that_was_killed(stdin: str) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PARENT % stdin,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdout is not None
    assert await parent.stdout.readline() == b"watching\n"

    parent.kill()
    await parent.wait()

    # Both held the pipe open; its end means that both are gone.
    assert await parent.stdout.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["sigint", "sigterm"])
async def test_child_ends_at_once_on_a_signal(number: signal.Signals) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WATCHING_CHILD,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    await child.stdout.readline()

    os.kill(child.pid, number)

    assert await child.wait() == -number


async def test_end_of_input_ends_the_child() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WATCHING_CHILD,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )

    await child.communicate(b"anything\n")

    assert child.returncode == 0
