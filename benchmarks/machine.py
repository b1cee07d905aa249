"""What a reader needs to judge absolute figures by: the machine, the date, the versions."""

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

_LIBRARIES = ("sluicegate", "aiohttp", "uvicorn", "uvloop", "httptools")


def machine_facts(method: str, peers: Sequence[str] = ()) -> list[str]:
    """`method` says how it was measured, `peers` which versions of other programs were there."""
    versions = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    facts = [
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {method}",
        f"{_processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}, {versions}",
    ]
    return [*facts, ", ".join(peers)] if peers else facts


def rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
