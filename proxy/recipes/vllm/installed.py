"""Finds a vLLM that is installed here and asks it, through the probe. It starts no engine."""

import importlib.util
import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from typing_extensions import override

from proxy.errors import SluicegateError
from proxy.recipes.vllm.asked_program import AskLimits, ProgramFailed, ask_program
from proxy.recipes.vllm.facts import VllmFacts, read_facts

_PROBE: Final = Path(__file__).with_name("probe.py")
_MODULE: Final = ("-m", "vllm.entrypoints.cli.main")
_HEAD_BYTES: Final = 4096
_NAME_ONE: Final = "name a `vllm` program or the Python of the environment that has vLLM"
_MEND_IT: Final = "mend that environment, or name another `vllm` program or Python"


class InstalledVllmError(SluicegateError):
    """A vLLM was named or found, but cannot be asked. `last_lines` is what it said last."""

    def __init__(self, message: str, remedy: str, last_lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.last_lines = tuple(last_lines)

    @override
    def __str__(self) -> str:
        return "\n    ".join((f"{self.message} ({self.remedy})", *self.last_lines))


class ParserAnswer(msgspec.Struct, frozen=True):
    """What vLLM's own parser said. `error` is None if it found nothing wrong.

    `skipped` tells why the parser could not be asked, or not to the end.
    """

    version: str
    error: str | None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledVllm:
    """`python` can import vLLM; `serve` and its arguments follow the words of `program`.

    Each question starts a process with the variables of `environ`, which imports vLLM: seconds.
    """

    python: Path
    program: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)
    limits: AskLimits = field(default_factory=AskLimits)

    def facts(self) -> VllmFacts:
        """Its flags and names. Raises `InstalledVllmError`."""
        answer = self._ask("facts", None)
        try:
            return read_facts(answer)
        except msgspec.DecodeError as error:
            raise self._unreadable(error) from error

    def check(self, arguments: Sequence[str]) -> ParserAnswer:
        """What its parser says to the words after `vllm serve`. Raises `InstalledVllmError`.

        As vLLM itself would, this reads the YAML file behind `--config`; nothing that the
        arguments name is imported or run.
        """
        answer = self._ask("check", json.dumps(list(arguments)).encode())
        try:
            return msgspec.json.decode(answer, type=ParserAnswer)
        except msgspec.DecodeError as error:
            raise self._unreadable(error) from error

    def _ask(self, what: str, question: bytes | None) -> bytes:
        # Isolated: neither the folder of the probe nor ours may stand in for a package of vLLM's.
        command = (str(self.python), "-I", str(_PROBE), what)
        try:
            return ask_program(command, question, self.environ, self.limits)
        except ProgramFailed as failed:
            message = f"the vLLM of {self.python} cannot be asked: {failed}"
            raise InstalledVllmError(message, _MEND_IT, failed.last_lines) from failed

    def _unreadable(self, error: msgspec.DecodeError) -> InstalledVllmError:
        message = f"the vLLM of {self.python} gave an answer that cannot be read: {error}"
        return InstalledVllmError(message, _MEND_IT)


def find_vllm(program: Path | None, environ: Mapping[str, str]) -> InstalledVllm | None:
    """The vLLM of `program`, else that of our own Python, else the `vllm` on PATH; None: none.

    `program` is a `vllm` program or a Python. Raises `InstalledVllmError` if it is neither, and if
    the `vllm` on PATH does not tell its Python.
    """
    if program is not None:
        return _given(program, environ)
    found = importlib.util.find_spec("vllm")
    if found is not None and found.origin is not None:
        return _of_python(Path(sys.executable), environ)
    on_path = _which("vllm", environ)
    return None if on_path is None else _of_program(on_path, environ)


def _given(program: Path, environ: Mapping[str, str]) -> InstalledVllm:
    found = _which(str(program), environ)
    if found is None:
        raise InstalledVllmError(f"`{program}` is no program that can be run", _NAME_ONE)
    if found.name.startswith("python"):
        return _of_python(found, environ)
    return _of_program(found, environ)


def _of_python(python: Path, environ: Mapping[str, str]) -> InstalledVllm:
    return InstalledVllm(python, (str(python), *_MODULE), environ)


def _of_program(program: Path, environ: Mapping[str, str]) -> InstalledVllm:
    interpreter = _interpreter(program, environ)
    if interpreter is None:
        message = f"`{program}` does not name its Python in its first line"
        raise InstalledVllmError(message, _NAME_ONE)
    return InstalledVllm(interpreter, (str(program),), environ)


def _interpreter(program: Path, environ: Mapping[str, str]) -> Path | None:
    """The Python that a script names behind `#!`; None if it names none that exists."""
    try:
        with program.open("rb") as script:
            first, second = os.fsdecode(script.read(_HEAD_BYTES) + b"\n\n").splitlines()[:2]
        words = shlex.split(first.removeprefix("#!")) if first.startswith("#!") else []
        # A path that is long or has blanks stands in the second line, behind `'''exec'`.
        if words == ["/bin/sh"]:
            words = shlex.split(second)[1:]
    except (OSError, ValueError):
        return None
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-")]
    if not words or not Path(words[0]).name.startswith("python"):
        return None
    return _which(words[0], environ)


def _which(name: str, environ: Mapping[str, str]) -> Path | None:
    """Not resolved: a link is what makes the Python of a virtual environment."""
    found = shutil.which(name, path=environ.get("PATH", os.defpath))
    return Path(found).absolute() if found else None
