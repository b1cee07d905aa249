"""What tiles and marks say of given series, by the engine of PromQL that `promtool` has."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.grafana.programs import needed
from tests.grafana.shipped import DASHBOARDS, Json, annotations, asked, loaded

_CHOSEN: Final = {"$__rate_interval": "5m", "$__range": "1h", "$__range_s": "3600"}
_PROXY: Final = 'job="sluicegate",instance="a"'
_ENGINE: Final = 'job="vllm",instance="e",model_name="m"'
_STARTED: Final = f"process_start_time_seconds{{{_PROXY}}}"
_STARTS: Final = f'sluicegate_engine_starts_total{{{_PROXY},lane="main",first_answer="invalid"}}'
_DRAFTS: Final = f"vllm:spec_decode_num_drafts_total{{{_ENGINE}}}"

# An expression, series with their values a minute apart, minutes, and what its value then must be.
Complaint = Callable[[str, Mapping[str, str], int, float | None], str]


@pytest.fixture
def complaint(tmp_path: Path) -> Complaint:
    """What `promtool` says where the value is another; empty where it is that one."""
    program = needed("promtool", "prometheus")

    def judged(
        expression: str, series: Mapping[str, str], minutes: int, value: float | None
    ) -> str:
        case = {"eval_time": f"{minutes}m", **_expected(expression, value)}
        inputs = [{"series": one, "values": values} for one, values in series.items()]
        test = {"interval": "1m", "input_series": inputs, "promql_expr_test": [case]}
        file = tmp_path / "case.json"
        file.write_text(json.dumps({"evaluation_interval": "1m", "tests": [test]}))
        done = subprocess.run(
            [program, "test", "rules", str(file)],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return "" if done.returncode == 0 else done.stdout + done.stderr

    return judged


def _expected(expression: str, value: float | None) -> Json:
    """A case of `promtool`, which compares to the last bit; None: there is no value."""
    if value is None:
        return {"expr": expression, "exp_samples": []}
    about = f"count(abs(({expression}) - {value}) < 1e-6)"
    return {"expr": about, "exp_samples": [{"labels": "{}", "value": 1}]}


def _tile(panel: str) -> str:
    (one,) = {query.expression for query in asked(_CHOSEN) if query.panel == panel}
    return one


def _histogram(name: str, labels: str, each_minute: float, mean: float) -> dict[str, str]:
    return {
        f"{name}_count{{{labels}}}": f"0+{each_minute}x60",
        f"{name}_sum{{{labels}}}": f"0+{each_minute * mean}x60",
    }


def _means(streams: float, whole: float, first_tokens: float) -> dict[str, str]:
    """So many replies a minute at the proxy, first tokens in the engine; streams 10 ms apart."""
    ours = "sluicegate_upstream_time_to_first_response_seconds"
    theirs = "vllm:time_to_first_token_seconds"
    return {
        **_histogram(ours, f'{_PROXY},stream="true"', streams, 0.12),
        **_histogram(ours, f'{_PROXY},stream="false"', whole, 3.0),
        **_histogram(theirs, _ENGINE, first_tokens, 0.11),
    }


@pytest.mark.parametrize(
    ("whole", "first_tokens", "value"),
    [
        pytest.param(0, 60, 0.01, id="the same requests"),
        pytest.param(0, 90, None, id="others reach the engine too"),
        pytest.param(0, 40, None, id="some streams go elsewhere"),
        pytest.param(0, 0, None, id="the engine counts none"),
        pytest.param(30, 60, None, id="as many by chance"),
    ],
)
def test_way_to_the_engine_is_told_only_of_the_same_requests(
    whole: float, first_tokens: float, value: float | None, complaint: Complaint
) -> None:
    series = _means(60, whole, first_tokens)

    found = complaint(_tile("Way to the engine"), series, 30, value)

    assert found == ""


@pytest.mark.parametrize(
    ("counted", "started", "value"),
    [
        pytest.param("1x90", "0x90", 1, id="judged before the first scrape"),
        pytest.param("4x90", "-86400x90", 0, id="all of them before the range"),
        pytest.param("4x30 5x60", "-86400x90", 1, id="one of them within the range"),
        pytest.param("_x50 1x40", "_x50 3000x40", 1, id="the proxy came later"),
        pytest.param("0x10 3x40 1x40", "-86400x50 3000x40", 4, id="of both runs of the proxy"),
    ],
)
def test_starts_count_where_they_were_judged_before_the_first_scrape(
    counted: str, started: str, value: float, complaint: Complaint
) -> None:
    found = complaint(_tile("Starts judged (n)"), {_STARTS: counted, _STARTED: started}, 59, value)

    assert found == ""


def test_starts_that_no_scrape_saw_rising_are_on_the_curve(complaint: Complaint) -> None:
    curve = f"sum({_tile('Engine starts by first answer')})"

    found = complaint(curve, {_STARTS: "1x60"}, 30, 1)

    assert found == ""


@pytest.mark.parametrize(
    ("job", "value"),
    [
        pytest.param("vllm", 1, id="an engine"),
        pytest.param("sluicegate", 1, id="a proxy"),
        pytest.param("node", 0, id="somebody else's target"),
    ],
)
def test_only_proxies_and_engines_are_targets_down(
    job: str, value: float, complaint: Complaint
) -> None:
    series = {
        f"up{{{_PROXY}}}": "1x10",
        'up{job="vllm",instance="e"}': "1x10",
        f'up{{job="{job}",instance="down"}}': "0x10",
    }

    found = complaint(_tile("Targets down"), series, 9, value)

    assert found == ""


@pytest.mark.parametrize(
    ("panel", "drafts", "value"),
    [
        pytest.param("Acceptance", "_x9 7", None, id="share after the first scrape"),
        pytest.param("Speculation", "_x9 7", 1, id="word after the first scrape"),
        pytest.param("Acceptance", "_x10", -1, id="share of an engine without drafts"),
        pytest.param("Speculation", "_x10", 0, id="word for an engine without drafts"),
    ],
)
def test_speculation_is_off_only_where_nothing_counts_drafts(
    panel: str, drafts: str, value: float | None, complaint: Complaint
) -> None:
    series = {f"vllm:num_requests_running{{{_ENGINE}}}": "_x9 1", _DRAFTS: drafts}

    found = complaint(_tile(panel), series, 9, value)

    assert found == ""


@pytest.mark.parametrize(
    ("panel", "value"),
    [
        pytest.param("Failed by the engine", 1, id="the engine stands out"),
        pytest.param("Retries", 0, id="the gate does not"),
        pytest.param("Streams that began in time", 0, id="none began"),
    ],
)
def test_engine_that_answers_500_to_everything_is_not_the_gates_fault(
    panel: str, value: float, complaint: Complaint
) -> None:
    histogram = "time_to_first_response_seconds"
    silent = {
        f'sluicegate_{which}_{suffix},stream="true"}}': "0x30"
        for which in (histogram, f"upstream_{histogram}")
        for suffix in (f"count{{{_PROXY}", f'bucket{{{_PROXY},le="0.2"')
    }
    series = silent | {
        f'sluicegate_requests_total{{{_PROXY},outcome="upstream_failed"}}': "0+5x30",
        f'sluicegate_attempts_total{{{_PROXY},step="first",result="upstream_fault"}}': "0+5x30",
        f'sluicegate_attempts_total{{{_PROXY},step="upstream_fault",result="upstream_fault"}}': (
            "0+5x30"
        ),
        f'sluicegate_attempts_total{{{_PROXY},step="upstream_fault",result="valid"}}': "0x30",
        f'sluicegate_attempts_total{{{_PROXY},step="vary",result="valid"}}': "0x30",
    }
    expressions = {query.expression for query in asked(_CHOSEN) if query.panel == panel}

    found = [complaint(expression, series, 20, value) for expression in expressions]

    assert found
    assert set(found) == {""}


@pytest.mark.parametrize(
    ("panel", "metric"),
    [
        ("Time since the proxy was started", "process_start_time_seconds"),
        ("Memory of the proxy", "process_resident_memory_bytes"),
        ("Open files of the proxy", "process_open_fds"),
    ],
)
def test_only_processes_of_proxies_are_shown(panel: str, metric: str, complaint: Complaint) -> None:
    series = {
        f'sluicegate_build_info{{{_PROXY},version="1"}}': "1x10",
        f"{metric}{{{_PROXY}}}": "7x10",
        f'{metric}{{job="vllm",instance="e"}}': "7x10",
    }

    found = complaint(f"count({_tile(panel)})", series, 9, 1)

    assert found == ""


def test_marks_of_policies_stand_at_the_start_of_their_proxy_long_after_it(
    complaint: Complaint,
) -> None:
    (mark,) = {one for one in annotations() if "policy_info" in one}
    series = {
        f'sluicegate_policy_info{{{_PROXY},policy="production",hash="h"}}': "1x60 _x5 1x60",
        _STARTED: "7x60 _x5 7x60",
    }

    found = complaint(f"sum({mark})", series, 100, 7000)

    assert found == ""


def test_diagnosis_asks_for_every_time_that_a_request_can_lose() -> None:
    (overview,) = (path for path in DASHBOARDS if path.stem.endswith("overview"))
    shown = loaded(overview)["panels"]
    (begin,) = (at for at, one in enumerate(shown) if one["title"].startswith("Is it the model"))
    (end,) = (at for at, one in enumerate(shown) if one["title"].startswith("How soon"))

    queries = [one["expr"] for panel in shown[begin:end] for one in panel.get("targets", [])]

    lost = ("queue", "upstream_time_to_first_response", "hold", "overhead")
    assert all(any(f"sluicegate_{one}_seconds" in query for query in queries) for one in lost)
