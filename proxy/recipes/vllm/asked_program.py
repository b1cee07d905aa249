"""Runs a program that answers on its standard output, within limits, and leaves nothing of it."""

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Final

_CHUNK_BYTES: Final = 1 << 16
_TAIL_BYTES: Final = 1 << 14
_TAIL_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class AskLimits:
    """What a program may take before it is killed."""

    seconds: float = 120.0
    output_bytes: int = 8 << 20


class ProgramFailed(Exception):
    """No answer: not started, too slow, too much, or a status other than 0.

    `last_lines` are the last lines of its standard error.
    """

    def __init__(self, reason: str, last_lines: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.last_lines = last_lines


def ask_program(
    command: Sequence[str],
    question: bytes | None,
    environ: Mapping[str, str],
    limits: AskLimits,
) -> bytes:
    """What it prints; `question` is its standard input, None closes it.

    It runs in a session of its own, so that all it started can be killed with it. Raises
    `ProgramFailed`.
    """
    complaints = bytearray()
    deadline = time.monotonic() + limits.seconds
    with _source(question) as source:
        try:
            process = subprocess.Popen(  # noqa: S603 - a list of words, and no shell
                command,
                stdin=source or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environ,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ProgramFailed(f"it could not be started: {error}") from error
        with process, _nothing_left(process):
            try:
                answer = _read(process, complaints, deadline, limits.output_bytes)
                status = process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except (TimeoutError, subprocess.TimeoutExpired) as error:
                reason = f"it had not answered after {limits.seconds:g} s"
                raise ProgramFailed(reason, _last_lines(complaints)) from error
    if status:
        raise ProgramFailed(f"it ended with status {status}", _last_lines(complaints))
    return answer


def _read(
    process: "subprocess.Popen[bytes]", complaints: bytearray, deadline: float, most_bytes: int
) -> bytes:
    """Its standard output; the end of its standard error goes to `complaints`."""
    answer = bytearray()
    with selectors.DefaultSelector() as pipes:
        for pipe, kept in ((process.stdout, answer), (process.stderr, complaints)):
            if pipe is not None:
                pipes.register(pipe, selectors.EVENT_READ, kept)
        while pipes.get_map():
            ready = pipes.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                key.data.extend(chunk)
                if not chunk:
                    pipes.unregister(key.fileobj)
            del complaints[:-_TAIL_BYTES]
            if len(answer) > most_bytes:
                reason = f"it printed more than {most_bytes} bytes"
                raise ProgramFailed(reason, _last_lines(complaints))
    return bytes(answer)


@contextmanager
def _source(question: bytes | None) -> Iterator[IO[bytes] | None]:
    """A file, since a pipe would block on a program that does not read."""
    if question is None:
        yield None
        return
    with tempfile.TemporaryFile() as source:
        source.write(question)
        source.seek(0)
        yield source


@contextmanager
def _nothing_left(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Kills the program and what it started, should the block not end well."""
    try:
        yield
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def _last_lines(complaints: bytearray) -> tuple[str, ...]:
    lines = complaints.decode(errors="replace").splitlines()
    return tuple(line.rstrip() for line in lines if line.strip())[-_TAIL_LINES:]
