from pathlib import Path

import pytest

from proxy.data_files import policies_folder, recipe_files, recipes_folder
from proxy.errors import SettingsError
from proxy.layout import SETTINGS_FILE, lay_out
from proxy.settings import load_settings


def test_laid_out_settings_are_right_and_find_policies_and_recipe(tmp_path: Path) -> None:
    list(lay_out(tmp_path / "deep" / "gate"))

    settings = load_settings(tmp_path / "deep" / "gate" / SETTINGS_FILE, {}, {})
    recipe = settings.lanes["main"].recipe
    assert (settings.policies.folder / "production.yaml").is_file()
    assert (settings.policies.folder / "schema.json").is_file()
    assert recipe
    assert recipe.is_file()


def test_laid_out_policies_have_their_fixtures_and_are_in_force(tmp_path: Path) -> None:
    list(lay_out(tmp_path))

    settings = load_settings(tmp_path / SETTINGS_FILE, {}, {})

    assert settings.policies.order == ("editorial-de", "production")
    assert settings.policies.by_header == ("editorial-de",)
    shipped = policies_folder()
    for path in shipped.rglob("*.yaml"):
        laid = settings.policies.folder / path.relative_to(shipped)
        assert laid.read_bytes() == path.read_bytes()


def test_recipes_are_laid_out_without_the_tables_beside_them(tmp_path: Path) -> None:
    list(lay_out(tmp_path))

    laid = {path.relative_to(tmp_path / "recipes") for path in tmp_path.glob("recipes/**/*")}
    assert laid == {Path(path.name) for path in recipe_files(recipes_folder())}


def test_dashboards_are_laid_out_with_provisioning_and_rules_but_not_the_rules_tests(
    tmp_path: Path,
) -> None:
    list(lay_out(tmp_path))

    laid = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("grafana/**/*.*")}
    assert "grafana/dashboards/sluicegate-overview.json" in laid
    assert "grafana/provisioning/datasources/prometheus.yaml" in laid
    assert "grafana/prometheus/prometheus.yaml" in laid
    assert "grafana/prometheus/rules/alerts.yaml" in laid
    assert not any(name.endswith(".test.yaml") for name in laid)


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / SETTINGS_FILE).write_text("mine")
    first = list(lay_out(tmp_path))

    second = list(lay_out(tmp_path))

    assert (tmp_path / SETTINGS_FILE).read_text() == "mine"
    assert first[0].startswith("kept ")
    assert first[1].startswith("wrote ")
    assert all(line.startswith("kept ") for line in second[:-1])


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SettingsError, match="cannot be written"):
        list(lay_out(tmp_path / "file"))
