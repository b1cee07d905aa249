"""The shipped deployment files, read as the programs read them that they are for."""

import re
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
GRAFANA: Final = ROOT / "grafana"
MADE_UP: Final = "made-up"
_VARIABLE: Final = re.compile(r"\$\{(\w+):([-?])([^}]*)\}")
Json = dict[str, Any]


def compose_text() -> str:
    """compose.yaml with its variables replaced: by their defaults, else by something made up."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    return _VARIABLE.sub(lambda found: found[3] if found[2] == "-" else MADE_UP, text)


def demanded_variables() -> set[str]:
    """What has to be set before compose starts anything."""
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    return {found[1] for found in _VARIABLE.finditer(text) if found[2] == "?"}


def services() -> Json:
    """The services of compose.yaml by name."""
    document: Json = yaml.safe_load(compose_text())
    found: Json = document["services"]
    return found


def mounts(service: Json) -> dict[str, Path]:
    """The files and folders of this repository that a service sees, by their place inside."""
    pairs = [volume.split(":") for volume in service.get("volumes", [])]
    return {
        inside: (DEPLOY / outside).resolve()
        for outside, inside, *_ in pairs
        if outside.startswith(".")
    }


def document(path: Path) -> Json:
    """A YAML file."""
    found: Json = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def instructions() -> list[tuple[str, str]]:
    """The Containerfile: pairs of instruction and what it says, continued lines joined."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return [(name, said.strip()) for name, _, said in pairs]
