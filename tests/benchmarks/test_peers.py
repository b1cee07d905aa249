"""How the contenders are configured."""

import json
from pathlib import Path

from measures import MEASURES
from peers import PEERS, configured, relay

UPSTREAM = "http://127.0.0.1:8000"


def test_measures_of_a_contender_are_measures() -> None:
    names = {measure.name for measure in MEASURES}

    assert all(set(peer.measures) <= names for peer in PEERS)


def test_names_and_titles_differ() -> None:
    assert len({peer.name for peer in PEERS}) == len({peer.title for peer in PEERS}) == len(PEERS)


def test_settings_of_sluicegate_name_the_upstream_and_the_shipped_policy(tmp_path: Path) -> None:
    launch = configured(("sluicegate", "serve"), UPSTREAM, tmp_path)

    settings = json.loads(Path(launch.command[-1]).read_text())
    assert settings["lanes"]["main"]["url"] == UPSTREAM
    assert (Path(settings["policies"]["folder"]) / "production.yaml").is_file()
    assert launch.url.endswith(f":{settings['listen']['port']}")


def test_health_of_the_relay_is_its_own(tmp_path: Path) -> None:
    launch = relay(UPSTREAM, tmp_path)

    assert launch.health_url == f"{launch.url}/health"
