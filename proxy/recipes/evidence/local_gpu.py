"""What this machine has: its GPUs as nvidia-smi tells them, and its memory.

Where nothing can be told, the reason is the answer.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from proxy.recipes.show.printable import printable
from proxy.recipes.vllm.asked_program import AskLimits, ProgramFailed, ask_program

PROGRAM: Final = "nvidia-smi"
_QUERY: Final = (
    "--query-gpu=name,compute_cap,memory.total,driver_version",
    "--format=csv,noheader,nounits",
)
_LIMITS: Final = AskLimits(seconds=15, output_bytes=64 * 1024)
_MEMORY_FILE: Final = Path("/proc/meminfo")
_READ_BYTES: Final = 64 * 1024
_SHOWN_CHARACTERS: Final = 200
_MIB: Final = 1024 * 1024
_KIB: Final = 1024
_TOTAL: Final = re.compile(r"^MemTotal:\s+([0-9]{1,15}) kB$", re.MULTILINE)
_CAPABILITY: Final = re.compile(r"[0-9]{1,2}\.[0-9]")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. None: not told; a GPU that shares the machine's memory reports none of its own."""

    name: str
    compute_capability: str | None
    memory_bytes: int | None
    driver: str


@dataclass(frozen=True, slots=True)
class LocalMachine:
    """What was found here. `trouble` says why there are no GPUs; empty where there are some.

    `memory_bytes` is the machine's own memory, None where the system does not tell it;
    `architecture` is the CPU's, such as aarch64.
    """

    gpus: tuple[Gpu, ...]
    memory_bytes: int | None
    architecture: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where to look: the environment that holds PATH, the CPU's architecture, the memory file."""

    environment: Mapping[str, str]
    architecture: str
    memory_file: Path = _MEMORY_FILE
    limits: AskLimits = field(default=_LIMITS)


def look_around(where: Surroundings) -> LocalMachine:
    """Ask nvidia-smi and the system. Raises nothing for what it finds."""
    gpus: tuple[Gpu, ...] = ()
    trouble = ""
    program = shutil.which(PROGRAM, path=where.environment.get("PATH", ""))
    if program is None:
        trouble = (
            f"{PROGRAM} is not installed, so no NVIDIA GPU is found; others are not looked for"
        )
    else:
        try:
            answer = ask_program((program, *_QUERY), None, where.environment, where.limits)
            gpus = tuple(_gpus(answer.decode("utf-8", "replace")))
            trouble = "" if gpus else f"{PROGRAM} tells of no GPU"
        except ProgramFailed as failed:
            said = "".join(f"; {_shown(line)}" for line in failed.last_lines[-1:])
            trouble = f"{PROGRAM} gave no answer: {failed}{said} (is the NVIDIA driver loaded?)"
    return LocalMachine(gpus, _own_memory(where.memory_file), where.architecture, trouble)


def _gpus(answer: str) -> Iterator[Gpu]:
    """A field that does not hold for a GPU stands as `[N/A]`."""
    for line in answer.splitlines():
        match [field.strip() for field in line.split(",")]:
            case [name, capability, memory, driver]:
                yield Gpu(
                    name=_shown(name),
                    compute_capability=capability if _CAPABILITY.fullmatch(capability) else None,
                    memory_bytes=int(memory) * _MIB if _NUMBER.fullmatch(memory) else None,
                    driver=_shown(driver),
                )
            case _:
                continue


def _shown(text: str) -> str:
    return printable(text)[:_SHOWN_CHARACTERS].strip()


def _own_memory(file: Path) -> int | None:
    try:
        with file.open("rb") as opened:
            found = _TOTAL.search(opened.read(_READ_BYTES).decode("ascii", "replace"))
    except OSError:
        return None
    return int(found[1]) * _KIB if found else None
