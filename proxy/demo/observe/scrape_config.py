"""The shipped configuration of Prometheus, pointed at where this demo listens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proxy.errors import ConfigError, Place, Problem
from proxy.yaml_places import parse_yaml

SCRAPE_INTERVAL: Final = "5s"
_FILE: Final = Path("prometheus") / "prometheus.yaml"


@dataclass(frozen=True, slots=True)
class Targets:
    """Addresses as host:port, by the names of the shipped jobs."""

    sluicegate: str
    vllm: str

    def of(self, job: object) -> str | None:
        return {"sluicegate": self.sluicegate, "vllm": self.vllm}.get(str(job))


def scrape_config(targets: Targets, folder: Path) -> str:
    """The configuration as text, which is JSON and so YAML.

    Jobs keep their names, which rules and dashboards go by; rule files get absolute paths. The
    scrape interval is short, so that a look after a minute shows something. Raises `ConfigError`
    where the shipped file is missing or is none.
    """
    path = folder / _FILE
    try:
        data = parse_yaml(path.read_bytes(), str(path)).data
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror}") from error
    if not isinstance(data, Mapping):
        raise _unusable(path, "is no configuration of Prometheus")
    intervals = {"scrape_interval": SCRAPE_INTERVAL, "evaluation_interval": SCRAPE_INTERVAL}
    rules = [str((path.parent / str(rule)).resolve()) for rule in data.get("rule_files") or ()]
    jobs = [_pointed(job, targets) for job in data.get("scrape_configs") or ()]
    kept = [job for job in jobs if job is not None]
    return json.dumps({"global": intervals, "rule_files": rules, "scrape_configs": kept})


def _pointed(job: Any, targets: Targets) -> dict[str, Any] | None:
    """A job with its target of this demo; None for a job of other programs."""
    name = job.get("job_name") if isinstance(job, Mapping) else None
    target = targets.of(name)
    if target is None:
        return None
    return {"job_name": name, "static_configs": [{"targets": [target]}]}


def _unusable(path: Path, message: str) -> ConfigError:
    return ConfigError([Problem(Place(str(path)), message, "take it from the project's source")])
