"""Where the files that ship with the program stand: policies, recipes, dashboards.

A wheel carries them inside the package, a checkout has them beside it.
"""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent
_TABLES: Final = frozenset({"hardware.yaml", "provenance.yaml"})


def policies_folder(package: Path = _PACKAGE) -> Path:
    """The folder of the policies that ship with the program."""
    return _shipped("policies", package)


def recipes_folder(package: Path = _PACKAGE) -> Path:
    """The folder of the recipes that ship with the program."""
    return _shipped("recipes", package)


def grafana_folder(package: Path = _PACKAGE) -> Path:
    """The folder of dashboards, provisioning and Prometheus configuration."""
    return _shipped("grafana", package)


def recipe_files(folder: Path) -> tuple[Path, ...]:
    """The recipes of a folder by name; the tables beside them are none."""
    return tuple(path for path in sorted(folder.glob("*.yaml")) if path.name not in _TABLES)


def _shipped(name: str, package: Path) -> Path:
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parent / name
