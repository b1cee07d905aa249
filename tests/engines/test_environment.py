from pathlib import Path

import pytest

from tests.engines.cache import Cache
from tests.engines.environment import EnvironmentFailed, NoWheel, VllmBuild, VllmEnvironment

BUILD = VllmBuild("9.9.0", torch="9", torchvision="9")


def _environment(folder: Path, script: str) -> VllmEnvironment:
    """An environment whose Python is a shell script."""
    python = folder / "own" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return VllmEnvironment(BUILD.version, folder / "own", Cache(folder / "cache", lambda _: None))


def test_own_environment_is_used_as_it_is(tmp_path: Path) -> None:
    own = _environment(tmp_path, "echo 9.9.0")

    given = VllmEnvironment.provide(BUILD, own.cache, {BUILD.variable: str(own.folder)})

    assert given.folder == own.folder
    assert not (own.folder / ".made.json").exists()


def test_own_environment_of_another_version_is_refused(tmp_path: Path) -> None:
    own = _environment(tmp_path, "echo 9.8.1")

    with pytest.raises(EnvironmentFailed, match=r"9\.8\.1.*not 9\.9\.0"):
        VllmEnvironment.provide(BUILD, own.cache, {BUILD.variable: str(own.folder)})


def test_own_environment_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match="nowhere"):
        VllmEnvironment.provide(BUILD, Cache(tmp_path), {BUILD.variable: str(tmp_path / "nowhere")})


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("ERROR: No matching distribution found for torch==9", NoWheel),
        (
            "WARNING: Retrying (Retry(total=0\nERROR: No matching distribution found for torch==9",
            EnvironmentFailed,
        ),
        ("ERROR: No space left on device", EnvironmentFailed),
    ],
    ids=["no such wheel", "no network", "anything else"],
)
def test_missing_wheel_is_told_from_a_failure(
    tmp_path: Path, told: str, kind: type[EnvironmentFailed]
) -> None:
    environment = _environment(tmp_path, f"echo '{told}' >&2; exit 1")

    with pytest.raises(EnvironmentFailed) as raised:
        environment.run("-m", "pip")

    assert type(raised.value) is kind
    assert told.splitlines()[-1] in str(raised.value)


def test_repair_is_made_and_verified_once(tmp_path: Path) -> None:
    environment = _environment(tmp_path, f'echo "$1" >> {tmp_path}/calls; echo 9.9.0')

    environment.repair()
    environment.repair()

    calls = (tmp_path / "calls").read_text().split()
    assert [Path(call).name for call in calls] == ["repair_vllm.py", "-m"]


def test_process_of_an_environment_writes_its_caches_into_ours(tmp_path: Path) -> None:
    environment = _environment(tmp_path, "")

    variables = environment.variables()

    names = ("HF_HOME", "TORCHINDUCTOR_CACHE_DIR", "VLLM_CACHE_ROOT", "XDG_CACHE_HOME")
    assert all(variables[name].startswith(str(environment.cache.folder)) for name in names)
    assert variables["HF_HUB_OFFLINE"] == "1"
