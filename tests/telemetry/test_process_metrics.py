import os
import sys
import time
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from proxy.telemetry.metrics import Metrics
from proxy.telemetry.process_metrics import METRICS, ProcessFamilies
from tests.fakes.metrics import samples_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")


def test_exactly_the_declared_metrics_are_shown_with_their_meaning() -> None:
    families = list(ProcessFamilies().collect())

    assert {family.name: family.documentation for family in families} == {
        metric.full_name: metric.meaning for metric in METRICS
    }


def test_values_are_those_of_this_process() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count, no paths
    with Path(os.devnull).open():
        samples = samples_of(Metrics(CollectorRegistry()).registry)

    assert 0 < samples["process_start_time_seconds"] <= time.time()
    assert samples["process_resident_memory_bytes"] > 1 << 20
    assert samples["process_open_fds"] >= before
