"""Installs the peers that Sluicegate is compared with, into `.bench/` of the repository.

    python benchmarks/installation.py

Each is installed once, at the version named here. What cannot be installed is told with its
reason and left out of the comparison; the exit code is 0 all the same.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from processes import HERE

CACHE = HERE.parent / ".bench"
LITELLM = "litellm[proxy]==1.108.7"
PORTKEY = "@portkey-ai/gateway@1.15.2"


class NotInstalled(Exception):
    """A peer is not to be had here; the message says what is missing."""


def litellm_python() -> Path:
    """The interpreter of LiteLLM's environment. Raises `NotInstalled`."""
    return found(CACHE / "litellm/bin/python", "LiteLLM")


def nginx_program() -> Path:
    """The system's nginx, else our own. Raises `NotInstalled`."""
    systems = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    return Path(systems) if systems else found(CACHE / "nginx/usr/sbin/nginx", "nginx")


def portkey_script() -> Path:
    """What `node` runs. Raises `NotInstalled`."""
    return found(_portkey_package() / "build/start-server.js", "Portkey's gateway")


def versions() -> list[str]:
    """Names and versions of the peers that are installed."""
    asks: tuple[Callable[[], str], ...] = (_nginx_version, _litellm_version, _portkey_version)
    told = []
    for ask in asks:
        try:
            told.append(ask())
        except NotInstalled:
            continue
    return told


def install_litellm() -> None:
    folder = CACHE / "litellm"
    if _is_stamped(folder, LITELLM):
        return
    run([sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--disable-pip-version-check", "-qq"]
    run([*pip, LITELLM])
    _stamp(folder, LITELLM)


def install_nginx() -> None:
    """Unpacks the distribution's package: nothing is registered or started on the machine."""
    try:
        nginx_program()
    except NotInstalled:
        pass
    else:
        return
    if shutil.which("apt-get") is None:
        raise NotInstalled("no nginx and no apt-get here; install nginx by hand")
    folder = CACHE / "nginx"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run(["apt-get", "download", "-qq", "nginx"], folder)
    except NotInstalled:
        if os.geteuid() != 0:
            raise
        run(["apt-get", "update", "-qq"])
        run(["apt-get", "download", "-qq", "nginx"], folder)
    for package in folder.glob("nginx_*.deb"):
        run(["dpkg-deb", "-x", package.name, "."], folder)
    _nginx_version()


def install_portkey() -> None:
    folder = CACHE / "portkey"
    if _is_stamped(folder, PORTKEY):
        return
    if shutil.which("npm") is None:
        raise NotInstalled("no npm here; install Node.js")
    folder.mkdir(parents=True, exist_ok=True)
    run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", PORTKEY])
    _stamp(folder, PORTKEY)


def _litellm_version() -> str:
    code = "import importlib.metadata; print(importlib.metadata.version('litellm'))"
    return f"LiteLLM {run([str(litellm_python()), '-c', code]).strip()}"


def _nginx_version() -> str:
    return run([str(nginx_program()), "-v"]).strip().removeprefix("nginx version: ")


def _portkey_version() -> str:
    portkey_script()
    package = json.loads((_portkey_package() / "package.json").read_text())
    return f"Portkey {package['version']} on Node.js {run(['node', '--version']).strip()}"


def _portkey_package() -> Path:
    return CACHE / "portkey/node_modules/@portkey-ai/gateway"


def found(path: Path, name: str) -> Path:
    if not path.exists():
        raise NotInstalled(f"{name} is not installed; `make bench` does it")
    return path


def run(command: Sequence[str], folder: Path | None = None) -> str:
    """Everything the command printed. Raises `NotInstalled` when it fails."""
    try:
        process = subprocess.run(
            command, cwd=folder, text=True, capture_output=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{command[0]}: {error}") from error
    if process.returncode:
        last = (process.stderr or process.stdout).strip().splitlines()[-1:]
        raise NotInstalled(f"`{' '.join(command[:3])}` failed: {''.join(last)}")
    return process.stdout + process.stderr


def _is_stamped(folder: Path, what: str) -> bool:
    stamp = folder / "installed"
    return stamp.exists() and stamp.read_text() == what


def _stamp(folder: Path, what: str) -> None:
    (folder / "installed").write_text(what)


def _main() -> None:
    CACHE.mkdir(exist_ok=True)
    for install in (install_nginx, install_litellm, install_portkey):
        try:
            install()
        except NotInstalled as error:
            print(f"left out: {error}", file=sys.stderr)
    print(f"installed in {CACHE.name}: {', '.join(versions()) or 'no peer'}", file=sys.stderr)


if __name__ == "__main__":
    _main()
