import json
import shutil
import subprocess
from pathlib import Path

import pytest

from proxy.data_files import grafana_folder
from proxy.demo.observe.scrape_config import (
    SCRAPE_INTERVAL,
    Targets,
    scrape_config,
)
from proxy.errors import ConfigError

TARGETS = Targets("127.0.0.1:1", "127.0.0.1:2")


def test_shipped_jobs_keep_their_names_and_get_our_targets() -> None:
    config = json.loads(scrape_config(TARGETS, grafana_folder()))

    targets = {
        job["job_name"]: job["static_configs"][0]["targets"] for job in config["scrape_configs"]
    }
    assert targets == {"sluicegate": ["127.0.0.1:1"], "vllm": ["127.0.0.1:2"]}
    assert config["global"]["scrape_interval"] == SCRAPE_INTERVAL


def test_rule_files_are_found_from_anywhere() -> None:
    rules = json.loads(scrape_config(TARGETS, grafana_folder()))["rule_files"]

    assert rules
    assert all(Path(rule).is_absolute() and Path(rule).is_file() for rule in rules)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_accepts_it(tmp_path: Path) -> None:
    file = tmp_path / "prometheus.yaml"
    file.write_text(scrape_config(TARGETS, grafana_folder()))

    checked = subprocess.run(
        ["promtool", "check", "config", file],  # noqa: S607 - wherever it is installed
        capture_output=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stderr


def test_jobs_of_other_programs_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "scrape_configs: [{job_name: node}, {job_name: vllm}, nonsense]")

    jobs = json.loads(scrape_config(TARGETS, tmp_path))["scrape_configs"]

    assert [job["job_name"] for job in jobs] == ["vllm"]


@pytest.mark.parametrize("text", [None, "[]", "{"], ids=["missing", "list", "no yaml"])
def test_file_that_is_none_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        write(tmp_path, text)

    with pytest.raises(ConfigError, match=r"prometheus\.yaml"):
        scrape_config(TARGETS, tmp_path)


def write(folder: Path, text: str) -> None:
    (folder / "prometheus").mkdir()
    (folder / "prometheus" / "prometheus.yaml").write_text(text)
