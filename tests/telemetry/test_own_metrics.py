from threading import Thread

import pytest

from proxy.telemetry.own_metrics import BUILD_INFO, POLICY_INFO, OwnMetrics
from tests.fakes.metrics import Bench


def test_info_says_what_runs_and_without_rows_nothing() -> None:
    bench = Bench()
    metrics = OwnMetrics(bench.collectors)

    metrics.info(POLICY_INFO, [{"policy": "a", "hash": "1"}, {"policy": "b", "hash": "2"}])
    metrics.info(BUILD_INFO, [])

    samples = bench.samples()
    assert samples['policy_info{hash="1",policy="a"}'] == 1
    assert samples['policy_info{hash="2",policy="b"}'] == 1
    assert not any(name.startswith("build_info") for name in samples)


def test_info_with_other_labels_than_declared_is_refused() -> None:
    metrics = OwnMetrics(Bench().collectors)

    with pytest.raises(ValueError, match="label"):
        metrics.info(BUILD_INFO, [{"version": "1", "host": "a"}])


def test_losses_are_counted_whichever_thread_tells_of_them() -> None:
    bench = Bench()
    metrics = OwnMetrics(bench.collectors)

    def lose() -> None:
        for _ in range(2000):
            metrics.ledger_dropped(2)
            metrics.log_dropped()
            metrics.records_failed(3)

    threads = [Thread(target=lose) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    samples = bench.samples()
    assert samples["ledger_dropped_total"] == 16_000
    assert samples["log_dropped_total"] == 8000
    assert samples["records_failed_total"] == 24_000


def test_ledger_has_a_gauge_only_where_there_is_one() -> None:
    bench, works = Bench(), [True]
    metrics = OwnMetrics(bench.collectors)
    before = bench.samples()
    metrics.watch_ledger(lambda: works[0])

    up = bench.samples()["ledger_up"]
    works[0] = False

    assert "ledger_up" not in before
    assert (up, bench.samples()["ledger_up"]) == (1, 0)
