"""The committed dashboards are what the generator makes, and load as Grafana's model."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from grafana.generator.build import DASHBOARDS as FOLDER
from grafana.generator.build import drift, main, write
from grafana.generator.schema import MADE, remade
from tests.grafana.programs import needed
from tests.grafana.shipped import DASHBOARDS, Json, loaded, panels


def test_committed_dashboards_are_what_the_generator_makes() -> None:
    assert drift(FOLDER) == []


def test_check_names_what_was_edited_added_or_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    (tmp_path / "sluicegate-mtp.json").write_text("{}")
    (tmp_path / "sluicegate-overview.json").unlink()
    (tmp_path / "mine.json").write_text("{}")

    status = main(["--check", "--folder", str(tmp_path)])

    told = capsys.readouterr().err
    assert status == 1
    assert [name in told for name in ("mtp", "overview", "mine", "contract")] == [True] * 3 + [
        False
    ]
    assert "make dashboards" in told


def test_build_leaves_nothing_behind_that_it_does_not_make(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")

    status = main(["--folder", str(tmp_path)])

    assert (status, drift(tmp_path)) == (0, [])


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_satisfy_the_schema_of_grafanas_types(path: Path) -> None:
    assert list(_validator().iter_errors(loaded(path))) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        pytest.param(("fieldConfig", "defaults", "unitt"), "s", id="misspelt option"),
        pytest.param(("fieldConfig", "defaults", "unit"), None, id="null"),
        pytest.param(("options", "legend", "placement"), "left", id="wrong choice"),
        pytest.param(("fieldConfig", "defaults", "custom", "spanNull"), True, id="misspelt curve"),
        pytest.param(("spanNulls",), True, id="option in the wrong place"),
        pytest.param(("targets", 0, "expression"), "up", id="misspelt query"),
    ],
)
def test_schema_refuses_what_grafana_would_ignore(
    place: tuple[str | int, ...], value: object
) -> None:
    dashboard = loaded(DASHBOARDS[0])
    target: Any = next(panel for panel in panels(dashboard) if panel["type"] == "timeseries")
    for step in place[:-1]:
        target = target[step]

    target[place[-1]] = value

    assert not _validator().is_valid(dashboard)


def test_titles_and_addresses_are_those_that_bookmarks_know() -> None:
    told = {dashboard["uid"]: dashboard["title"] for dashboard in map(loaded, DASHBOARDS)}

    assert told == {
        "sluicegate-overview": "Sluicegate / Overview",
        "sluicegate-contract": "Sluicegate / Contract",
        "sluicegate-mtp": "Sluicegate / MTP",
    }


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_schema_is_what_grafanas_types_make(tmp_path: Path) -> None:
    needed("npm", "npm")

    assert remade(tmp_path) == MADE.read_text(encoding="utf-8")


def _validator() -> Draft7Validator:
    schema: Json = json.loads(MADE.read_text(encoding="utf-8"))
    return Draft7Validator(schema)
