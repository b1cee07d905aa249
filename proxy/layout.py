"""The command `init`: lays out settings, policies, recipes and dashboards for editing."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from proxy.data_files import grafana_folder, policies_folder, recipe_files, recipes_folder
from proxy.errors import Place, Problem, SettingsError

SETTINGS_FILE: Final = "sluicegate.yaml"
_RULE_TESTS: Final = ".test.yaml"
_SETTINGS: Final = """\
# Sluicegate's settings. Every key may be left out; docs/settings.md explains them all.
#   sluicegate serve --config sluicegate.yaml
# SLUICEGATE_* variables and flags override what stands here.

listen: {host: 127.0.0.1, port: 8800}
admin:  {host: 127.0.0.1, port: 8801}      # metrics, health, readiness, request look-up

lanes:
  main:
    url: "http://127.0.0.1:8000"           # your vLLM
    # What it was started with: sequences at once, context length. Remove it for another model.
    recipe: recipes/qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml
    # On every new start of the engine, ask it for strict JSON first; requests wait meanwhile.
    # probe: {valid: 1, on_fail: open}

# The first that is for a request is taken; editorial-de only where a request asks for it by
# `x-sluicegate-policy: editorial-de`. Leave out what you do not need: each loads its libraries.
policies: {folder: policies, order: [editorial-de, production], by_header: [editorial-de]}

# keys: {file: keys.yaml}                  # made by `sluicegate keys add NAME`
limits: {request_bytes: 32MiB, reply_bytes: 16MiB, connect_seconds: 5, idle_seconds: 60}
usage: inject                              # ask for usage, hide the extra chunk; or `leave`
slo: {ttfr_seconds: 0.2}
ledger: {url: "sqlite:///sluicegate.db"}   # engine starts and requests; `null` for none
"""


def lay_out(folder: Path) -> Iterator[str]:
    """Write what is missing and say so line by line; what exists is left alone.

    Raises `SettingsError` where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield _write(folder / SETTINGS_FILE, _SETTINGS)
        for source, target in _shipped():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            yield _copy(source, folder / target)
    except OSError as error:
        problem = Problem(Place(str(error.filename)), f"cannot be written: {error.strerror}")
        raise SettingsError([problem]) from error
    yield f"Next: sluicegate serve --config {folder / SETTINGS_FILE}"


def _shipped() -> Iterator[tuple[Path, Path]]:
    """Each file that ships with the program, and where it goes in a folder of settings."""
    policies = policies_folder()
    for pattern in ("*.yaml", "*.json", "fixtures/*/*.yaml"):
        for path in sorted(policies.glob(pattern)):
            yield path, "policies" / path.relative_to(policies)
    for path in recipe_files(recipes_folder()):
        yield path, Path("recipes", path.name)
    grafana = grafana_folder()
    for pattern in ("dashboards/*.json", "provisioning/*/*.yaml", "prometheus/**/*.yaml"):
        for path in sorted(grafana.glob(pattern)):
            if not path.name.endswith(_RULE_TESTS):
                yield path, "grafana" / path.relative_to(grafana)


def _write(target: Path, text: str) -> str:
    if target.exists():
        return f"kept   {target}"
    target.write_text(text)
    return f"wrote  {target}"


def _copy(source: Path, target: Path) -> str:
    if target.exists():
        return f"kept   {target}"
    shutil.copyfile(source, target)
    return f"wrote  {target}"
