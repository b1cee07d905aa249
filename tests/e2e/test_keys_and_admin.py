"""Who may call, and what the admin listener shows to whom."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.app import Surroundings
from proxy.keys import add_key
from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream

ASKED = {"model": "tiny", "messages": []}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer sk-sluice-wrong"},
        {"authorization": "Basic abc"},
        {"x-api-key": ""},
    ],
    ids=["none", "wrong", "basic", "empty"],
)
async def test_request_without_a_known_key_is_a_401_and_goes_nowhere(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    add_key(tmp_path / "keys.yaml", "agent")
    settings = {"keys.file": str(tmp_path / "keys.yaml")}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(ASKED, headers)

    assert response.status == 401
    assert json.loads(received)["error"]["code"] == "invalid_api_key"
    assert upstream.calls == []


async def test_known_key_is_let_in_named_in_the_record_and_never_sent_upstream(
    tmp_path: Path,
) -> None:
    token = add_key(tmp_path / "keys.yaml", "agent")
    settings = {"keys.file": str(tmp_path / "keys.yaml")}
    async with (
        fake_upstream(*[completion() for _ in range(3)]) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(ASKED, {"authorization": f"Bearer {token}"})
        other, _ = await gate.chat(ASKED, {"x-api-key": token})
        lower, _ = await gate.chat(ASKED, {"authorization": f"bearer  {token}"})
        record = await gate.record(response)

    assert (response.status, other.status, lower.status) == (200, 200, 200)
    assert record["key"] == "agent"
    for call in upstream.calls:
        assert token not in str(call.headers)


async def test_key_of_the_lane_replaces_the_client_s() -> None:
    around = Surroundings(environ={"UPSTREAM_KEY": "theirs"})
    settings = {"lanes.main.key_env": "UPSTREAM_KEY"}
    async with (
        fake_upstream(completion()) as upstream,
        running_gate(upstream.url, settings, around) as gate,
    ):
        await gate.chat(ASKED, {"authorization": "Bearer mine"})

    assert upstream.calls[0].headers["authorization"] == "Bearer theirs"


async def test_admin_token_guards_metrics_and_look_up_but_not_health() -> None:
    around = Surroundings(environ={"TOKEN": "secret"})
    settings = {"admin.token_env": "TOKEN"}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings, around) as gate:
        statuses = {}
        for path in ("/health", "/ready", "/metrics", "/sluicegate/requests/x"):
            async with gate.http.get(gate.admin_url + path) as response:
                statuses[path] = response.status
        for given in ("Bearer secret", "bearer secret", "Bearer Secret", "Basic secret"):
            headers = {"authorization": given}
            async with gate.http.get(f"{gate.admin_url}/metrics", headers=headers) as page:
                statuses[given] = page.status

    assert statuses == {
        "/health": 200,
        "/ready": 200,
        "/metrics": 401,
        "/sluicegate/requests/x": 401,
        "Bearer secret": 200,
        "bearer secret": 200,
        "Bearer Secret": 401,
        "Basic secret": 401,
    }


async def test_metrics_are_not_on_the_public_listener() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.url}/metrics") as response,
    ):
        assert response.status == 404


async def test_open_metrics_are_spoken_when_asked_for() -> None:
    accept = {"accept": "application/openmetrics-text;version=1.0.0"}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.admin_url}/metrics", headers=accept) as page,
    ):
        text = await page.text()

    assert page.headers["content-type"].startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")


async def test_unknown_request_id_is_a_404() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.admin_url}/sluicegate/requests/none") as response,
    ):
        assert response.status == 404


async def test_public_documentation_lists_the_relayed_paths() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.url}/openapi.json") as response,
    ):
        paths = (await response.json())["paths"]

    assert {"/v1/chat/completions", "/v1/models", "/health", "/"} <= paths.keys()


@pytest.mark.parametrize("listener", ["public", "admin"])
@pytest.mark.parametrize(
    ("method", "status", "word"), [("GET", 200, b"ok"), ("HEAD", 200, b""), ("POST", 405, b"")]
)
async def test_health_of_both_listeners(
    method: str, status: int, word: bytes, listener: str
) -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        url = gate.url if listener == "public" else gate.admin_url
        async with gate.http.request(method, f"{url}/health") as response:
            received = await response.read()

    assert response.status == status
    assert word in received
    assert bool(received) is bool(word)
    assert (response.headers["content-length"] != "0") is (status == 200)
    assert (b"version" in received) is (bool(word) and listener == "admin")
    assert response.headers.get("allow") == ("GET, HEAD" if status == 405 else None)


async def test_admin_documentation_names_the_id_of_a_request() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.admin_url}/openapi.json") as response,
    ):
        (look_up,) = [
            route["get"]
            for path, route in (await response.json())["paths"].items()
            if path.startswith("/sluicegate/requests/")
        ]

    assert [parameter["name"] for parameter in look_up["parameters"]] == ["request_id"]


def test_program_that_serves_has_not_imported_what_only_its_pages_need() -> None:
    code = "import sys, proxy.server; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        (sys.executable, "-c", code), capture_output=True, text=True, check=True
    )

    assert not {"fastapi", "sqlalchemy", "alembic", "litellm", "aiohttp"} & set(
        loaded.stdout.split()
    )
