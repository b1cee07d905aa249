"""compose.yaml, as far as it can be judged without a container engine."""

import asyncio
import copy
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import aiohttp
import compose_spec
import pytest
import yaml

from proxy import __version__
from proxy.launch.plan import launch_plan
from proxy.recipes.reading import open_recipe
from proxy.settings import Settings, load_settings
from tests.deploy.shipped import (
    DEPLOY,
    GRAFANA,
    MADE_UP,
    ROOT,
    compose_text,
    demanded_variables,
    document,
    mounts,
    services,
)
from tests.engines.server import free_port
from tests.grafana.programs import needed

RECIPE = "SLUICEGATE_LANES__MAIN__RECIPE"
# The library knows only addresses here, no name for the host.
FOR_THE_LIBRARY = compose_text().replace("host-gateway", "192.0.2.1")


def recipe_file() -> Path:
    """The recipe that the gate is told of, where it stands in this repository."""
    gate = services()["gate"]
    inside = PurePosixPath(gate["environment"][RECIPE])
    return mounts(gate)[str(inside.parent)] / inside.name


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    variables = services()["gate"]["environment"] | {RECIPE: str(recipe_file())}
    return load_settings(None, variables, {})


async def until_answered(http: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> int:
    """The status, once anybody listens."""
    async with asyncio.timeout(30):
        while True:
            try:
                async with http.get(url, headers=headers) as response:
                    return response.status
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)


def checked(text: str) -> compose_spec.PyCompose:
    found = compose_spec.PyCompose.from_yaml(text)
    found.validate()
    found.validate_secrets()
    return found


def test_file_satisfies_the_compose_specification() -> None:
    assert checked(FOR_THE_LIBRARY).name == "sluicegate"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("healthcheck:", "healthchek:"),
        ("restart: unless-stopped", "restart: sometimes"),
        ("stop_grace_period: 40s", "stop_grace_period: soon"),
        ("secrets: [admin_token]", "secrets: [admin_tokn]"),
    ],
)
def test_a_mistake_is_refused_by_that_check(right: str, wrong: str) -> None:
    assert right in FOR_THE_LIBRARY

    with pytest.raises(ValueError, match=r"\w"):
        checked(FOR_THE_LIBRARY.replace(right, wrong, 1))


def test_the_gates_variables_are_settings_that_load(settings: Settings) -> None:
    assert settings.listen.host == settings.admin.host == "0.0.0.0"
    assert str(settings.lanes["main"].url) == "http://vllm:8000"
    assert settings.lanes["main"].probe is not None
    assert settings.keys.open
    assert settings.admin.token_env == "SLUICEGATE_ADMIN_TOKEN"


def test_open_gate_is_published_on_loopback_only_and_its_admin_listener_not_at_all(
    settings: Settings,
) -> None:
    gate = services()["gate"]

    port = settings.listen.port
    assert gate["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_nothing_is_published_beyond_loopback() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_gate_has_more_time_to_stop_than_it_needs_to_drain(settings: Settings) -> None:
    patience = services()["gate"]["stop_grace_period"]

    assert float(patience.removesuffix("s")) > settings.drain_seconds


def test_ledger_lies_in_a_volume(settings: Settings) -> None:
    kept = [volume.split(":") for volume in services()["gate"]["volumes"]]
    folder = PurePosixPath(str(settings.ledger.url).removeprefix("sqlite:///")).parent

    assert ["ledger", str(folder)] in kept


def test_volumes_are_declared() -> None:
    named = {
        volume.split(":")[0]
        for service in services().values()
        for volume in service.get("volumes", [])
        if not volume.startswith(".")
    }

    assert named == set(yaml.safe_load(compose_text())["volumes"])


def test_engine_runs_the_recipe_that_the_gate_is_told_of() -> None:
    plan = launch_plan(open_recipe(recipe_file()), ("vllm",))
    engine = services()["vllm"]

    assert (*engine["entrypoint"], *engine["command"]) == plan.arguments
    assert plan.environment.items() <= engine["environment"].items()


@pytest.mark.parametrize("name", services())
def test_mounted_files_exist(name: str) -> None:
    for outside in mounts(services()[name]).values():
        assert outside.exists()
        assert outside.is_relative_to(ROOT)


def test_prometheus_is_told_the_same_as_without_containers_but_addresses() -> None:
    contained = document(DEPLOY / "prometheus.yaml")
    shipped = document(GRAFANA / "prometheus" / "prometheus.yaml")

    without = copy.deepcopy(contained)
    for job, other in zip(without["scrape_configs"], shipped["scrape_configs"], strict=True):
        job.pop("authorization", None)
        job["static_configs"] = other["static_configs"]
    assert without == shipped


def test_prometheus_scrapes_services_at_the_ports_that_they_listen_on(settings: Settings) -> None:
    jobs = document(DEPLOY / "prometheus.yaml")["scrape_configs"]
    targets = [config["targets"] for job in jobs for config in job["static_configs"]]
    engine = services()["vllm"]["command"]

    assert targets == [
        [f"gate:{settings.admin.port}"],
        [f"vllm:{engine[engine.index('--port') + 1]}"],
    ]


def test_prometheus_reads_the_token_that_the_gate_demands() -> None:
    (job, _) = document(DEPLOY / "prometheus.yaml")["scrape_configs"]
    (secret,) = services()["prometheus"]["secrets"]
    source = yaml.safe_load(compose_text())["secrets"][secret]

    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    assert source["environment"] == "SLUICEGATE_ADMIN_TOKEN"


def test_prometheus_accepts_what_it_is_told(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(MADE_UP, encoding="utf-8")
    shutil.copytree(GRAFANA / "prometheus" / "rules", tmp_path / "rules")
    text = (DEPLOY / "prometheus.yaml").read_text(encoding="utf-8")
    config = tmp_path / "prometheus.yaml"
    config.write_text(text.replace("/run/secrets/admin_token", str(token)), encoding="utf-8")

    done = subprocess.run(
        [needed("promtool", "prometheus"), "check", "config", str(config)],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_stand_where_prometheus_looks_for_them() -> None:
    seen = mounts(services()["prometheus"])
    config = PurePosixPath("/etc/prometheus/prometheus.yaml")

    assert seen[str(config)] == DEPLOY / "prometheus.yaml"
    for name in document(DEPLOY / "prometheus.yaml")["rule_files"]:
        inside = config.parent / name
        assert (seen[str(inside.parent)] / inside.name).is_file()


def test_grafana_is_told_the_same_as_without_containers_but_the_address() -> None:
    contained = document(DEPLOY / "grafana-source.yaml")
    shipped = document(GRAFANA / "provisioning" / "datasources" / "prometheus.yaml")

    assert contained["datasources"][0].pop("url") == "http://prometheus:9090"
    shipped["datasources"][0].pop("url")
    assert contained == shipped


def test_dashboards_stand_where_their_provider_looks_for_them() -> None:
    seen = mounts(services()["grafana"])
    (provider,) = document(seen["/etc/grafana/provisioning/dashboards"] / "sluicegate.yaml")[
        "providers"
    ]

    assert list(seen[provider["options"]["path"]].glob("*.json"))


def test_images_are_fixed_versions() -> None:
    images = {name: service["image"].rpartition(":") for name, service in services().items()}

    assert all(tag[0].isdigit() or tag[0] == "v" for _, _, tag in images.values())
    assert images["gate"] == ("sluicegate", ":", __version__)


def test_page_tells_what_has_to_be_set() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")

    assert demanded_variables() == {"SLUICEGATE_ADMIN_TOKEN", "GRAFANA_PASSWORD"}
    assert all(f"{name}=" in page for name in demanded_variables())


async def test_gate_serves_with_these_variables_and_shows_metrics_to_who_has_the_token(
    tmp_path: Path,
) -> None:
    port, admin_port = free_port(), free_port()
    changed = {
        RECIPE: str(recipe_file()),
        "SLUICEGATE_LISTEN__HOST": "127.0.0.1",
        "SLUICEGATE_ADMIN__HOST": "127.0.0.1",
        "SLUICEGATE_LEDGER__URL": f"sqlite:///{tmp_path / 'sluicegate.db'}",
        "PYTHONPATH": str(ROOT),
    }
    gate = services()["gate"]
    serving = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "sluicegate.py"), *gate["command"]),
        *("--port", str(port), "--admin-port", str(admin_port)),
        cwd=tmp_path,
        env=gate["environment"] | changed,
    )
    metrics = f"http://127.0.0.1:{admin_port}/metrics"
    try:
        async with aiohttp.ClientSession() as http:
            stranger = await until_answered(http, metrics, {})
            known = await until_answered(http, metrics, {"Authorization": f"Bearer {MADE_UP}"})
    finally:
        serving.terminate()
        code = await serving.wait()

    assert (stranger, known, code) == (401, 200, 0)
