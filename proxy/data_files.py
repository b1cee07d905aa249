"""Where the files that ship with the program stand: policies and recipes.

A wheel carries them inside the package, a checkout has them beside it.
"""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent


def policies_folder(package: Path = _PACKAGE) -> Path:
    """The folder of the policies that ship with the program."""
    return _shipped("policies", package)


def recipes_folder(package: Path = _PACKAGE) -> Path:
    """The folder of the recipes that ship with the program."""
    return _shipped("recipes", package)


def _shipped(name: str, package: Path) -> Path:
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parent / name
