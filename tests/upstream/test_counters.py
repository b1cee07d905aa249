from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.upstream.counters import Counters, MetricsPage

RECORDED = Path(__file__).parents[1] / "recorded"
FRESH = """\
process_start_time_seconds 1.7e+09
vllm:request_success_total{engine="0",finished_reason="stop",model_name="a b"} 0.0
vllm:prompt_tokens_total{engine="0",model_name="a"} 0.0
vllm:generation_tokens_total{engine="0",model_name="a"} 0.0
"""
ASLEEP = 'vllm:engine_sleep_state{engine="%s",model_name="a",sleep_state="%s"} %s\n'


def read_counters(page: bytes) -> Counters | None:
    """Read a whole page that arrives in one piece."""
    reading = MetricsPage()
    reading.feed(page)
    return reading.counters()


def _with(*lines: str) -> Counters | None:
    return read_counters((FRESH + "".join(lines)).encode())


def test_counters_of_a_fresh_engine_are_untouched() -> None:
    assert read_counters(FRESH.encode()) == Counters(1.7e9, work=0)


def test_pages_of_a_real_engine_tell_its_start_and_its_work() -> None:
    cold = read_counters((RECORDED / "vllm_metrics_cold.txt").read_bytes())
    worked = read_counters((RECORDED / "vllm_metrics_ngram.txt").read_bytes())

    assert cold == Counters(1796010799.6, work=0)
    assert worked == Counters(1796012357.01, work=4 + 175 + 110)


@pytest.mark.parametrize("value", ["4.0", "NaN", "+Inf", "-1"])
@pytest.mark.parametrize(
    "name", ["request_success_total", "prompt_tokens_total", "generation_tokens_total"]
)
def test_any_count_but_zero_touches_an_engine(name: str, value: str) -> None:
    counters = _with(f'vllm:{name}{{engine="1",model_name="a"}} {value}\n')

    assert counters is not None
    assert counters.touched


def test_work_of_all_engines_behind_one_server_counts() -> None:
    counters = _with(*(f'vllm:prompt_tokens_total{{engine="{engine}"}} 3\n' for engine in (1, 2)))

    assert counters is not None
    assert counters.work == 6


@pytest.mark.parametrize(
    ("states", "asleep", "discarded"),
    [
        ({"awake": 1, "weights_offloaded": 0, "discard_all": 0}, False, False),
        ({"awake": 0, "weights_offloaded": 1, "discard_all": 0}, True, False),
        ({"awake": 0, "weights_offloaded": 0, "discard_all": 1}, True, True),
        ({"awake": 0, "weights_offloaded": 0, "discard_all": 0}, True, False),
    ],
    ids=["awake", "level_1", "level_2", "paused"],
)
@pytest.mark.parametrize("engine", ["0", "1"])
def test_sleep_of_any_engine_is_seen(
    states: dict[str, int], asleep: bool, discarded: bool, engine: str
) -> None:
    awake = ASLEEP % ("7", "awake", 1)

    counters = _with(awake, *(ASLEEP % (engine, state, on) for state, on in states.items()))

    assert counters is not None
    assert (counters.asleep, counters.discarded) == (asleep, discarded)


@pytest.mark.parametrize(
    "line",
    [
        'vllm:prompt_tokens_total{model_name="a} 7 b"} 3',
        r'vllm:prompt_tokens_total{model_name="a\"} 7 b"} 3',
        'vllm:prompt_tokens_total{model_name="a"} 3 1700000000',
        'vllm:prompt_tokens_total{model_name="a"} 3 # {trace="x"} 7',
        "vllm:prompt_tokens_total 3",
        "vllm:prompt_tokens_total{}\t3",
    ],
    ids=["brace", "quote", "timestamp", "exemplar", "no_labels", "tab"],
)
def test_value_is_read_behind_any_labels(line: str) -> None:
    counters = _with(line + "\n")

    assert counters is not None
    assert counters.work == 3


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"process_start_time_seconds 1.0\n",
        b"llamacpp:prompt_tokens_total 3\n",
        b"\xff\xfe",
        b"process_start_time_seconds soon\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds nan\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds +Inf\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds -5\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds 0\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds 1\nprocess_start_time_seconds 2\nvllm:prompt_tokens_total 3\n",
        b"process_start_time_seconds 1\nvllm:prompt_tokens_total_created 3\n",
        b"process_start_time_seconds 1\nvllm:prompt_tokens_total many\n",
        b"process_start_time_seconds 1\n" + b"vllm:prompt_tokens_total 3\n" * 4000,
        b"process_start_time_seconds 1\n" + b"x" * (1 << 20) + b"vllm:prompt_tokens_total 3\n",
    ],
    ids=[
        *("empty", "no_vllm", "llama_cpp", "bytes", "no_number", "nan", "infinite", "negative"),
        *("zero", "two_processes", "other_name", "no_count", "too_many_lines", "endless_line"),
    ],
)
def test_page_without_these_metrics_tells_nothing(page: bytes) -> None:
    assert read_counters(page) is None


def test_positions_of_fifteen_drafts_in_dozens_of_engines_leave_the_counters_readable() -> None:
    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    labels = ((engine, position) for engine in range(64) for position in range(15))

    counters = _with(
        *(f'{name}{{engine="{engine}",position="{position}"}} 3\n' for engine, position in labels)
    )

    assert counters == Counters(1.7e9, work=0)


def test_series_of_several_models_are_one_engine() -> None:
    counters = _with('vllm:prompt_tokens_total{engine="0",model_name="adapter"} 2\n')

    assert counters == Counters(1.7e9, work=2)


@given(st.lists(st.integers(0, len(FRESH)), max_size=8))
def test_page_in_pieces_reads_as_a_whole(cuts: list[int]) -> None:
    text = FRESH.replace("0.0", "2.0").encode()
    edges = [0, *sorted(cuts), len(text)]
    page = MetricsPage()

    for begin, end in pairwise(edges):
        page.feed(text[begin:end])

    assert page.counters() == Counters(1.7e9, work=6)


def test_page_whose_last_line_has_no_end_is_read_to_its_end() -> None:
    assert read_counters(FRESH.rstrip().encode()) == Counters(1.7e9, work=0)


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reading(noise: bytes) -> None:
    page = MetricsPage()

    page.feed(noise + b"\nvllm:prompt_tokens_total" + noise + b"\nprocess_start_time_seconds 1\n")

    counters = page.counters()
    assert counters is None or counters.started_at > 0
