import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.contract.policy_schema import policy_schema, render_policy_schema
from proxy.data_files import policies_folder
from proxy.gates.registry import gate_kinds
from proxy.yaml_places import parse_yaml, read_yaml

SCHEMA_FILE = policies_folder() / "schema.json"
TOP = "format: 1\nname: p\n"


def errors_of(document: Any) -> list[str]:
    return [
        error.message
        for error in Draft202012Validator(policy_schema(gate_kinds())).iter_errors(document)
    ]


def test_committed_schema_is_the_one_of_the_code() -> None:
    # `python -m proxy.contract.policy_schema > policies/schema.json` writes it anew.
    assert SCHEMA_FILE.read_text(encoding="utf-8") == render_policy_schema(gate_kinds())


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem) for path in policies_folder().glob("*.yaml")]
)
def test_shipped_policy_fits_the_schema(path: Path) -> None:
    assert errors_of(read_yaml(path).data) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("gates: {}", id="smallest"),
        pytest.param("match:\nattempts:\nstream:\ngates: {strict_json: }", id="empty parts"),
        pytest.param("gates: {strict_json: {on_fail: [flag], on_error: flag}}", id="flag"),
        pytest.param("gates: {strict_json: {on_fail: [park], on_error: park}}", id="park"),
        pytest.param("gates: {}\nreview: {store: bodies}", id="review"),
        pytest.param(
            "gates: {strict_json: {on_fail: [vary, fallback], fallback_text: '{}'}}", id="fallback"
        ),
    ],
)
def test_what_the_loader_takes_fits_the_schema(text: str) -> None:
    assert errors_of(parse_yaml((TOP + text).encode(), "p.yaml").data) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("gates: {strict_json: {on_fial: []}}", id="unknown key of a gate"),
        pytest.param("gates: {strict_json: {on_fail: [judge]}}", id="step of a later version"),
        pytest.param("gates: {strict_json: {on_fail: [fallback]}}", id="fallback without a text"),
        pytest.param("gates: {strict_jsn: {}}", id="unknown gate"),
        pytest.param("gates: {}\nstream: {mode: window}", id="stream mode of a later version"),
        pytest.param("gates: {}\nshadow: x", id="unknown key"),
        pytest.param("gates: {}\nattempts: {max_attempts: 11}", id="out of range"),
        pytest.param("mode: enforce", id="no gates"),
    ],
)
def test_what_the_loader_refuses_does_not_fit_the_schema(text: str) -> None:
    assert errors_of(parse_yaml((TOP + text).encode(), "p.yaml").data)
