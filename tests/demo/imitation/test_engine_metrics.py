import re
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from proxy.demo.imitation.engine_metrics import EngineMetrics, Served
from proxy.demo.imitation.schedule import Step
from proxy.demo.imitation.seats import Seats
from proxy.demo.imitation.variant import VariantName
from proxy.upstream.counters import MetricsPage
from tests.fakes.imitation import samples, variant

ROOT = Path(__file__).parents[3]
LISTED = ROOT / "grafana" / "metrics" / "vllm_0.32.0.txt"
SERVED = Served("stop", 30, 11, 0.1, 0.2, 1.0)


def metrics(name: VariantName = VariantName.MTP1, seats: Seats | None = None) -> EngineMetrics:
    return EngineMetrics(variant(name), seats or Seats(4), 1000.5)


def page(shown: EngineMetrics) -> str:
    return generate_latest(shown.registry).decode()


def names(shown: EngineMetrics) -> set[str]:
    families = text_string_to_metric_families(page(shown))
    found = {sample.name for family in families for sample in family.samples}
    return {name for name in found if not name.endswith("_created")}


def test_names_are_those_of_a_real_server() -> None:
    listed = {line for line in LISTED.read_text().splitlines() if line.startswith("vllm:")}

    assert names(metrics()) - listed == {"process_start_time_seconds"}


def test_every_name_that_a_dashboard_or_rule_asks_for_is_there() -> None:
    files = [
        *(ROOT / "grafana" / "dashboards").glob("*.json"),
        *(ROOT / "grafana" / "prometheus" / "rules").glob("*.yaml"),
    ]
    asked = {name for file in files for name in re.findall(r"vllm:[a-z_]+", file.read_text())}

    assert asked
    assert asked <= names(metrics())


def test_server_without_speculation_counts_no_drafts() -> None:
    assert not {name for name in names(metrics(VariantName.BASELINE)) if "spec_decode" in name}


def test_fresh_start_is_untouched_to_the_proxy() -> None:
    read = MetricsPage()
    read.feed(page(metrics()).encode())
    counters = read.counters()

    assert counters is not None
    assert (counters.started_at, counters.touched, counters.asleep) == (1000.5, False, False)


def test_drafts_are_counted_by_position() -> None:
    shown = metrics(VariantName.NVFP4)

    shown.stepped(Step(0.1, 1))
    shown.stepped(Step(0.2, 3, drafted=3, accepted=2))

    text = page(shown)
    assert samples(text)["vllm:generation_tokens_total"] == 4
    assert samples(text)["vllm:spec_decode_num_drafts_total"] == 1
    assert samples(text)["vllm:spec_decode_num_draft_tokens_total"] == 3
    assert samples(text)["vllm:spec_decode_num_accepted_tokens_total"] == 2
    by_position = re.findall(r'per_pos_total\{.*position="(\d)"\} (\d)', text)
    assert by_position == [("0", "1"), ("1", "1"), ("2", "0")]


def test_served_request_is_in_every_histogram() -> None:
    shown = metrics()

    shown.began(30)
    shown.first_token(0.3)
    shown.between_tokens(0.1)
    shown.served(SERVED)

    found = samples(page(shown))
    assert found["vllm:request_success_total"] == 1
    assert found["vllm:prompt_tokens_total"] == 30
    assert found["vllm:e2e_request_latency_seconds_sum"] == pytest.approx(1.3)
    assert found["vllm:request_time_per_output_token_seconds_sum"] == pytest.approx(0.1)
    counts = {name: value for name, value in found.items() if name.endswith("_seconds_count")}
    assert set(counts.values()) == {1}


async def test_gauges_show_the_seats() -> None:
    seats = Seats(4)
    shown = metrics(seats=seats)

    async with seats.taken(8192):
        found = samples(page(shown))

    assert found["vllm:num_requests_running"] == 1
    assert found["vllm:kv_cache_usage_perc"] == 0.5


def test_page_says_that_it_is_no_vllm() -> None:
    assert "Of an imitation, not of vLLM" in page(metrics())
    assert 'model_name="imitation-mtp1"' in page(metrics())
