from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.data_files import policies_folder, recipe_files, recipes_folder
from proxy.recipes.evidence import hardware, provenance

BOTH = pytest.mark.parametrize(
    ("folder", "name"),
    [
        pytest.param(policies_folder, "policies", id="policies"),
        pytest.param(recipes_folder, "recipes", id="recipes"),
    ],
)


@BOTH
def test_checkout_has_them_beside_the_package(
    tmp_path: Path, folder: Callable[[Path], Path], name: str
) -> None:
    assert folder(tmp_path / "proxy") == tmp_path / name


@BOTH
def test_wheel_carries_them_inside_the_package(
    tmp_path: Path, folder: Callable[[Path], Path], name: str
) -> None:
    inside = tmp_path / "proxy" / "data" / name
    inside.mkdir(parents=True)

    assert folder(tmp_path / "proxy") == inside


def test_shipped_files_are_found() -> None:
    assert (policies_folder() / "production.yaml").is_file()
    assert list(recipes_folder().glob("*.yaml"))


def test_tables_beside_the_recipes_are_no_recipes() -> None:
    names = {path.name for path in recipe_files(recipes_folder())}

    beside = {path.name for path in recipes_folder().glob("*.yaml")} - names
    assert beside == {hardware.FILE, provenance.FILE}
    assert "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml" in names
