"""The metrics page as a scraper gets it from a running proxy."""

import asyncio
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from proxy.data_files import recipes_folder
from proxy.gates.registry import gate_kinds
from proxy.telemetry.catalogue import CATALOGUE
from tests.fakes.gate import Gate, running_gate
from tests.fakes.metrics import exemplars_in
from tests.fakes.prometheus import Prometheus
from tests.fakes.upstream import completion, fake_upstream, stream

OPEN = "application/openmetrics-text;version=1.0.0"
ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
STRICT = ASKED | {"response_format": {"type": "json_object"}}
NEEDED = {
    "length": "{targets: [{of: text, unit: words, min: 1, max: 9}]}",
    "evidence": "{sources: [{tag: source}]}",
    "pattern": "{forbid: [{pattern: secret, reason: it is one}]}",
}


async def _page(gate: Gate, accept: str = OPEN) -> str:
    headers = {"accept": accept}
    async with gate.http.get(f"{gate.admin_url}/metrics", headers=headers) as page:
        return await page.text()


def _everything(folder: Path) -> dict[str, Any]:
    """Settings with all that has metrics of its own, and an objective that is no edge yet."""
    gates = "\n".join(f"  {gate}: {NEEDED.get(gate, '{}')}" for gate in gate_kinds())
    (folder / "all.yaml").write_text(f"format: 1\nname: all\ngates:\n{gates}\n")
    return {
        "policies.folder": str(folder),
        "policies.order": ["all"],
        "lanes.main.recipe": str(next(recipes_folder().glob("*.yaml"))),
        "ledger.url": f"sqlite:///{folder}/ledger.db",
        "slo.ttfr_seconds": 0.333,
    }


async def test_series_stay_under_500_with_all_gates_and_all_that_is_counted(
    tmp_path: Path,
) -> None:
    async with (
        fake_upstream(completion("{}"), completion("{")) as upstream,
        running_gate(upstream.url, _everything(tmp_path)) as gate,
    ):
        await gate.chat(STRICT, {"x-request-id": "seen"})
        page = await _page(gate)

    series = [line for line in page.splitlines() if not line.startswith("#")]
    assert all(f'gate="{gate}"' in page for gate in gate_kinds())
    assert 'le="0.333"' in page
    assert "sluicegate_ledger_up" in page
    assert 450 < len(series) < 500


async def test_exemplar_leads_from_a_bucket_to_what_became_of_the_request() -> None:
    async with (
        fake_upstream(completion("{")) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, _ = await gate.chat(STRICT)
        found = exemplars_in(await _page(gate))
        record = await gate.record(response)

    outcome = found[f"requests_total chat {record['outcome']}"]
    (duration,) = [each for name, each in found.items() if name.startswith("request_duration")]
    assert record["outcome"] != "passed"
    assert outcome.labels == duration.labels == {"request_id": record["id"]}
    assert duration.value == record["duration_seconds"]
    assert duration.at == pytest.approx(record["received_at"] + record["duration_seconds"])


@pytest.mark.parametrize("request_id", ['a"}1#{x="y', "\\", "x" * 128])
async def test_hostile_id_of_a_client_cannot_spoil_the_page(request_id: str) -> None:
    async with (
        fake_upstream(completion("{")) as upstream,
        running_gate(upstream.url) as gate,
    ):
        await gate.chat(STRICT, {"x-request-id": request_id})
        page = await _page(gate)

    assert request_id not in page
    assert exemplars_in(page) == {}
    assert page.endswith("# EOF\n")


async def test_text_carries_no_exemplars() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        await gate.chat(ASKED, {"x-request-id": "mine"})
        page = await _page(gate, "text/plain")

    assert "sluicegate_requests_total" in page
    assert "mine" not in page


@pytest.mark.parametrize(
    ("method", "status", "allow"), [("HEAD", 200, None), ("POST", 405, "GET"), ("PUT", 405, "GET")]
)
async def test_other_methods_get_no_page(method: str, status: int, allow: str | None) -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.request(method, f"{gate.admin_url}/metrics", headers={"accept": OPEN}) as answer,
    ):
        body = await answer.read()

    assert answer.status == status
    assert b"sluicegate_" not in body
    assert (answer.headers.get("allow") or "").startswith(allow or "")
    assert (answer.headers["content-type"].startswith("application/openmetrics")) is (not allow)


async def test_head_tells_no_length_that_the_page_does_not_have() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.head(f"{gate.admin_url}/metrics") as answer,
        gate.http.get(f"{gate.admin_url}/metrics") as page,
    ):
        await page.read()

    assert "content-length" not in answer.headers
    assert "transfer-encoding" not in answer.headers
    assert answer.headers["content-type"] == page.headers["content-type"]


async def test_many_scrapes_at_once_are_all_answered_alike() -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        pages = await asyncio.gather(*(_page(gate) for _ in range(30)))

    assert all(page.endswith("# EOF\n") for page in pages)
    assert len({len(page.splitlines()) for page in pages}) == 1


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus is not installed")
async def test_real_promtool_has_nothing_to_say_against_the_page(tmp_path: Path) -> None:
    settings = _everything(tmp_path)
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        page = await _page(gate, "text/plain")

    promtool = await asyncio.create_subprocess_exec(
        *("promtool", "check", "metrics"), stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    said = await promtool.communicate(page.encode())

    assert (promtool.returncode, said) == (0, (b"", b""))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus is not installed")
async def test_real_prometheus_keeps_the_exemplars_and_answers_every_typical_query(
    tmp_path: Path,
) -> None:
    bad = [completion("{") for _ in range(3)]
    async with (
        fake_upstream(stream(["a", "b"]), *bad) as upstream,
        running_gate(upstream.url) as gate,
        Prometheus(
            "prometheus", tmp_path, {"sluicegate": gate.admin_url.removeprefix("http://")}
        ) as prometheus,
    ):
        await gate.chat(ASKED | {"stream": True}, {"x-request-id": "streamed-1"})
        await gate.chat(STRICT, {"x-request-id": "rejected-1"})
        exemplars = {
            name: await prometheus.exemplars(gate.http, name)
            for name in (
                'sluicegate_requests_total{outcome="rejected"}',
                'sluicegate_upstream_time_to_first_response_seconds_bucket{stream="true"}',
            )
        }
        refused = await prometheus.ask(gate.http, 'up{job="sluicegate"} != 1')
        for metric in CATALOGUE:
            await prometheus.ask(gate.http, metric.query)

    ids = [
        each["labels"]["request_id"]
        for found in exemplars.values()
        for series in found
        for each in series["exemplars"]
    ]
    assert ids == ["rejected-1", "streamed-1"]
    assert refused == []
