"""Prometheus takes the shipped configuration and rules, and the rules call when they should."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.grafana.programs import needed
from tests.grafana.shipped import GRAFANA, RULES, Json, rules

PROMETHEUS: Final = GRAFANA / "prometheus"
CONFIG: Final = PROMETHEUS / "prometheus.yaml"
RULE_TESTS: Final = tuple(sorted((PROMETHEUS / "rules").glob("*.test.yaml")))
RUNBOOKS: Final = GRAFANA.parent / "docs" / "runbooks"
ALERTS: Final = [rule for rule in rules() if "alert" in rule]


@pytest.fixture
def promtool() -> str:
    return needed("promtool", "prometheus")


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _run(*command: str) -> str:
    """What the program says; the test fails with it where it does not succeed."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _cases() -> Iterator[Json]:
    for path in RULE_TESTS:
        for test in _yaml(path)["tests"]:
            yield from test.get("alert_rule_test", [])


def test_prometheus_takes_the_configuration(promtool: str) -> None:
    assert "SUCCESS" in _run(promtool, "check", "config", str(CONFIG))


def test_alertmanager_is_told_of_alerts_once_its_comment_marks_are_gone(
    promtool: str, tmp_path: Path
) -> None:
    shutil.copytree(PROMETHEUS, tmp_path, dirs_exist_ok=True)
    config = tmp_path / CONFIG.name
    before, _, after = CONFIG.read_text(encoding="utf-8").partition("# alerting:\n")
    block, end, rest = after.partition("\n\n")

    config.write_text(
        f"{before}alerting:\n{re.sub('^#', '', block, flags=re.MULTILINE)}{end}{rest}"
    )

    assert _yaml(config)["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]
    assert "SUCCESS" in _run(promtool, "check", "config", str(config))


def test_configuration_loads_every_file_of_rules() -> None:
    assert {PROMETHEUS / name for name in _yaml(CONFIG)["rule_files"]} == set(RULES)


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", RULE_TESTS, ids=lambda path: path.name)
def test_rules_call_when_they_should_and_only_then(path: Path, promtool: str) -> None:
    assert "SUCCESS" in _run(promtool, "test", "rules", str(path))


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_is_tested_when_it_fires_and_when_it_is_silent(rule: Json) -> None:
    fires = {bool(case["exp_alerts"]) for case in _cases() if case["alertname"] == rule["alert"]}

    assert fires == {True, False}


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_has_a_severity_and_a_runbook_that_names_it(rule: Json) -> None:
    url = rule["annotations"]["runbook_url"]
    page = RUNBOOKS / url.rpartition("/docs/runbooks/")[2]

    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert f"`{rule['alert']}`" in page.read_text(encoding="utf-8")


def test_every_runbook_belongs_to_an_alert() -> None:
    linked = {rule["annotations"]["runbook_url"].rpartition("/")[2] for rule in ALERTS}

    assert {path.name for path in RUNBOOKS.glob("*.md")} - {"README.md"} == linked


def test_interval_of_the_data_source_is_that_of_the_scrapes() -> None:
    source = _yaml(GRAFANA / "provisioning/datasources/prometheus.yaml")["datasources"][0]

    assert source["jsonData"]["timeInterval"] == _yaml(CONFIG)["global"]["scrape_interval"]


def test_rules_go_by_the_jobs_of_the_configuration() -> None:
    jobs = {job["job_name"] for job in _yaml(CONFIG)["scrape_configs"]}

    named = {job for rule in rules() for job in re.findall(r'job="(\w+)"', rule["expr"])}

    assert named == {"sluicegate", "vllm"} == jobs


def test_provisioned_dashboards_cannot_be_edited_in_the_browser() -> None:
    provider = _yaml(GRAFANA / "provisioning/dashboards/sluicegate.yaml")["providers"][0]

    assert (provider["type"], provider["allowUiUpdates"]) == ("file", False)
