import pytest

from proxy.upstream.engine import (
    Counters,
    Engine,
    EngineStart,
    EngineState,
    FirstAnswer,
    StartSource,
    read_counters,
)

Told = list[tuple[EngineStart, FirstAnswer]]

FRESH = """\
process_start_time_seconds 1.7e+09
vllm:request_success_total{engine="0",finished_reason="stop",model_name="a b"} 0.0
vllm:prompt_tokens_total{engine="0",model_name="a"} 0.0
vllm:generation_tokens_total{engine="0",model_name="a"} 0.0
"""


def _engine() -> tuple[Engine, Told]:
    told: Told = []
    return Engine(lambda start, answer: told.append((start, answer))), told


def _certify(engine: Engine) -> None:
    engine.settle(engine.dispatch(), valid=True)


def test_counters_of_a_fresh_engine_are_untouched() -> None:
    assert read_counters(FRESH.encode()) == Counters(1.7e9, touched=False)


def test_tokens_of_an_aborted_stream_touch_an_engine() -> None:
    page = FRESH.replace('tokens_total{engine="0",model_name="a"} 0.0\n', "tokens_total{} 4.0\n", 1)

    counters = read_counters(page.encode())

    assert counters is not None
    assert counters.touched


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"process_start_time_seconds 1.0\n",
        b"llamacpp:prompt_tokens_total 3\n",
        b"\xff\xfe",
        b"process_start_time_seconds soon\nvllm:prompt_tokens_total 3\n",
    ],
    ids=["empty", "no_vllm", "llama_cpp", "bytes", "no_number"],
)
def test_page_without_these_metrics_tells_nothing(page: bytes) -> None:
    assert read_counters(page) is None


def test_engine_is_cold_until_a_strict_answer_was_valid() -> None:
    engine, _ = _engine()
    engine.saw_alive()

    before = engine.state
    _certify(engine)

    assert (before, engine.state) == (EngineState.COLD, EngineState.CERTIFIED)


def test_invalid_answer_leaves_the_engine_cold() -> None:
    engine, told = _engine()

    engine.settle(engine.dispatch(), valid=False)

    assert engine.is_cold
    assert [answer for _, answer in told] == [FirstAnswer.INVALID]


def test_first_dispatched_request_is_the_sample_and_a_concurrent_one_is_not() -> None:
    engine, told = _engine()

    first, second = engine.dispatch(), engine.dispatch()
    engine.settle(second, valid=True)
    engine.settle(first, valid=False)

    assert (first.is_sample, second.is_sample) == (True, False)
    assert [answer for _, answer in told] == [FirstAnswer.INVALID]


def test_sample_without_a_verdict_passes_to_the_next_request() -> None:
    engine, told = _engine()

    engine.settle(engine.dispatch(), valid=None)
    engine.settle(engine.dispatch(), valid=True)

    assert [answer for _, answer in told] == [FirstAnswer.VALID]


def test_new_start_time_is_a_new_cold_start() -> None:
    engine, told = _engine()
    engine.saw_alive(Counters(1.0, touched=False))
    _certify(engine)

    engine.saw_alive(Counters(2.0, touched=False))

    assert engine.state is EngineState.COLD
    assert engine.start == EngineStart(2, untouched=True)
    assert engine.source is StartSource.METRICS
    assert [answer for _, answer in told] == [FirstAnswer.VALID]


def test_answer_of_an_earlier_start_does_not_certify_the_present_one() -> None:
    engine, _ = _engine()
    engine.saw_alive(Counters(1.0, touched=False))
    dispatch = engine.dispatch()

    engine.saw_alive(Counters(2.0, touched=False))
    engine.settle(dispatch, valid=True)

    assert engine.is_cold


def test_engine_that_worked_before_we_saw_it_is_not_untouched() -> None:
    engine, _ = _engine()

    engine.saw_alive(Counters(1.0, touched=True))

    assert engine.start.untouched is False


def test_start_that_nobody_asked_strict_json_of_is_told_as_unknown() -> None:
    engine, told = _engine()
    engine.saw_alive(Counters(1.0, touched=False))

    engine.saw_alive(Counters(2.0, touched=False))

    assert [answer for _, answer in told] == [FirstAnswer.UNKNOWN]


def test_outage_is_a_new_start_where_metrics_do_not_tell() -> None:
    engine, _ = _engine()
    engine.saw_alive()
    _certify(engine)

    engine.saw_unreachable()
    unreachable = engine.state
    engine.saw_alive()

    assert unreachable is EngineState.UNREACHABLE
    assert engine.state is EngineState.COLD
    assert engine.source is StartSource.FALLBACK


def test_outage_of_the_network_leaves_a_known_engine_certified() -> None:
    engine, _ = _engine()
    engine.saw_alive(Counters(1.0, touched=False))
    _certify(engine)

    engine.saw_unreachable()
    engine.saw_alive(Counters(1.0, touched=True))

    assert engine.state is EngineState.CERTIFIED


def test_alternating_start_times_fall_back_and_keep_the_certificate() -> None:
    engine, _ = _engine()
    for started_at in (1.0, 2.0, 1.0):
        engine.saw_alive(Counters(started_at, touched=True))
    _certify(engine)

    engine.saw_alive(Counters(2.0, touched=True))

    assert engine.source is StartSource.FALLBACK
    assert engine.state is EngineState.CERTIFIED


def test_loading_is_a_state_of_its_own_and_ends_in_a_new_start() -> None:
    engine, _ = _engine()
    engine.saw_alive()
    _certify(engine)

    engine.saw_loading()
    loading = engine.state
    engine.saw_alive()

    assert loading is EngineState.LOADING
    assert engine.state is EngineState.COLD
