"""The tables of docs/ against the code: what they list is what there is."""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from proxy.app import Surroundings, open_app
from proxy.contract.model_problems import fields_at
from proxy.contract.policy_rules import RuleBlock
from proxy.contract.policy_schema import policy_schema
from proxy.contract.probe_settings import ProbeSettings
from proxy.data_files import policies_folder, recipe_files, recipes_folder
from proxy.errors import Fault, ReplyableError
from proxy.gates.registry import gate_kinds
from proxy.ledger.starts_report import starts_json
from proxy.ledger.tables import METADATA
from proxy.settings import Lane, Settings, load_settings
from proxy.upstream.litellm_request import _PASSED_ON
from proxy.yaml_places import parse_yaml
from tests.fakes.records import clean_start

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [pytest.param(path, id=path.name) for path in (ROOT / "README.md", *DOCS.rglob("*.md"))]
ANY_LANE = "lanes.NAME."
ANY_PROBE = f"{ANY_LANE}probe."
RULE_KEYS = ("on_fail", *RuleBlock.model_fields)
MarkdownRow = tuple[str, ...]


def rows(page: str, heading: str) -> list[MarkdownRow]:
    """The rows of the table whose first heading is this one, its cells without backticks."""
    found: list[MarkdownRow] = []
    inside = False
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        inside = line.startswith("|") and (inside or cells[0] == heading)
        if inside and cells[0] != heading and not cells[0].startswith("---"):
            found.append(tuple(cell.replace("`", "") for cell in cells))
    return found


def members(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Dotted names of all keys of a JSON Schema; true for those that hold further keys."""
    for name, member in properties(schema, root).items():
        below = properties(member, root)
        yield name, bool(below)
        yield from ((f"{name}.{key}", deep) for key, deep in members(member, root))


def properties(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return properties(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for choice in [*schema.get("anyOf", []), *schema.get("allOf", [])]:
        found |= properties(choice, root)
    return found


def leaves(schema: dict[str, Any]) -> set[str]:
    return {name for name, deep in members(schema, schema) if not deep}


def replyable(kind: type[ReplyableError]) -> Iterator[type[ReplyableError]]:
    for below in kind.__subclasses__():
        yield below
        yield from replyable(below)


def codes_in_source() -> set[str]:
    """Codes that are spelled where an error is raised."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "proxy").rglob("*.py"))
    return {code for source in sources for code in re.findall(r'code="([a-z_]+)"', source)}


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for dotted, value in flat.items():
        target = tree
        *path, last = dotted.split(".")
        for step in path:
            target = target.setdefault(step, {})
        target[last] = value
    return tree


async def test_metrics_page_lists_exactly_the_metrics_with_type_and_labels(
    tmp_path: Path,
) -> None:
    registry = CollectorRegistry()
    flags = {
        "lanes.main.url": "http://127.0.0.1:9",
        "lanes.main.recipe": str(recipe_files(recipes_folder())[0]),
        "policies.folder": str(policies_folder()),
        "ledger.url": f"sqlite:///{tmp_path}/ledger.db",
    }
    around = Surroundings(environ={}, log=io.StringIO(), registry=registry)

    async with open_app(load_settings(None, {}, flags), around):
        families = list(registry.collect())

    there = {}
    for family in families:
        suffix = "_total" if family.type == "counter" else ""
        labels = {name for sample in family.samples for name in sample.labels} - {"le"}
        there[family.name + suffix] = (family.type, labels)
    told = {
        name: (kind, {label.strip() for label in labels.split(",") if label})
        for name, kind, labels, *_ in rows("metrics.md", "metric")
    }
    assert told == there


def test_settings_page_lists_exactly_the_settings() -> None:
    schema = Settings.model_json_schema()
    lanes = {f"{ANY_LANE}{name}" for name in fields_at(Lane, ())}
    lanes |= {f"{ANY_PROBE}{name}" for name in fields_at(Lane, ("probe",))}

    told = {name for name, *_ in rows("settings.md", "key")}

    assert told == leaves(schema) - {"lanes"} | lanes


def test_settings_page_tells_the_defaults() -> None:
    defaults = {
        name: parse_yaml(default.encode(), "docs").data
        for name, default, *_ in rows("settings.md", "key")
    }
    lane = {name.removeprefix(ANY_LANE): value for name, value in defaults.items()}
    lane = {name: value for name, value in lane.items() if name in Lane.model_fields}
    probe = {name.removeprefix(ANY_PROBE): value for name, value in defaults.items()}
    probe = {name: value for name, value in probe.items() if name in fields_at(Lane, ("probe",))}
    flat = {name: value for name, value in defaults.items() if not name.startswith(ANY_LANE)}

    told = Settings.model_validate(nested(flat))
    told_lane = Lane.model_validate({**lane, "url": "http://a"})

    assert lane["url"] is None
    assert told.model_dump() == Settings().model_dump()
    assert told_lane.model_dump() == Lane(url="http://a").model_dump()
    assert ProbeSettings.model_validate(probe) == ProbeSettings()


def test_policies_page_lists_exactly_the_keys_of_a_policy() -> None:
    schema = policy_schema(gate_kinds())
    rule_keys = {"gates.NAME", *(f"gates.NAME.{key}" for key in RULE_KEYS)}

    told = {name for name, *_ in rows("policies.md", "key")}

    outside_gates = {name for name in leaves(schema) if not name.startswith("gates")}
    assert told == outside_gates | rule_keys


@pytest.mark.parametrize(
    "gate", ["strict_json", "tool_calls", "length", "evidence", "pattern", "abstain"]
)
def test_page_of_a_gate_lists_exactly_its_options_with_defaults(gate: str) -> None:
    options = gate_kinds()[gate].options
    told = {name: default for name, default, *_ in rows(f"gates/{gate}.md", "key")}

    numbers = {name: int(default) for name, default in told.items() if default.isdigit()}

    assert set(told) == set(options.model_fields)
    assert numbers == {name: options().model_dump()[name] for name in numbers}


def test_ledger_page_lists_exactly_the_tables_and_their_columns() -> None:
    told = {name: set(columns.split(", ")) for name, _, columns in rows("ledger.md", "table")}

    assert told == {table.name: set(table.c.keys()) for table in METADATA.sorted_tables}


def test_ledger_page_lists_exactly_what_is_told_of_a_lane() -> None:
    document = json.loads(starts_json([clean_start("k")]))

    assert [key for key, *_ in rows("ledger.md", "key")] == list(document["lanes"][0])


def test_litellm_page_names_every_member_that_is_passed_on() -> None:
    text = (DOCS / "litellm.md").read_text(encoding="utf-8")
    item = text.partition("**Known members only.**")[2].partition(". Anything else")[0]

    assert set(re.findall(r"`([a-z_]+)`", item)) == _PASSED_ON


@pytest.mark.parametrize(
    "code",
    sorted(
        {str(fault) for fault in Fault}
        | {str(kind.default_code) for kind in replyable(ReplyableError)}
        | codes_in_source()
    ),
)
def test_errors_page_explains_every_code(code: str) -> None:
    assert f"`{code}`" in (DOCS / "errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_pages_show_shipped_policies_by_their_hash(page: Path) -> None:
    shipped = {path.stem: path.read_bytes() for path in policies_folder().glob("*.yaml")}
    text = page.read_text(encoding="utf-8")

    for name, digest in re.findall(r"([a-z-]+)@([0-9a-f]{12})", text):
        if name in shipped:
            assert digest == hashlib.sha256(shipped[name]).hexdigest()[:12], name


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
        name, _, heading = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        if heading:
            text = file.read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in slugs, target
