import prometheus_client
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client.registry import DuplicateTimeseries

from proxy.telemetry.exposition import Form, render
from proxy.telemetry.histogram import Histogram, HistogramFamily, trace_of
from proxy.telemetry.metric import Kind, Label, Metric
from tests.fakes.metrics import exemplars_in, samples_of

EDGES = (0.1, 0.2, 100.0)
METRIC = Metric(
    "wait_seconds", Kind.HISTOGRAM, "time waited", "seconds", "q", labels=(Label("of", ("a",)),)
)


def _registered(histogram: Histogram) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(HistogramFamily(METRIC, {("a",): histogram}))
    return registry


@given(st.lists(st.one_of(st.sampled_from(EDGES), st.floats(0, 1000)), max_size=20))
def test_page_is_the_one_of_the_library_s_own_histogram(values: list[float]) -> None:
    ours, theirs = Histogram(EDGES), CollectorRegistry()
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    library = prometheus_client.Histogram(
        METRIC.family, METRIC.meaning, ("of",), buckets=EDGES, registry=theirs
    ).labels("a")

    for value in values:
        ours.observe(value)
        library.observe(value)

    assert render(_registered(ours), Form.TEXT) == render(theirs, Form.TEXT)


def test_bucket_carries_the_newest_trace_that_fell_into_it() -> None:
    histogram = Histogram(EDGES)

    histogram.observe(0.15, trace_of("first", 1.5))
    histogram.observe(0.2, trace_of("second", 2.5))
    histogram.observe(0.05)
    histogram.observe(500.0, trace_of("third", 3.5))

    found = exemplars_in(render(_registered(histogram), Form.OPEN_METRICS).decode())
    told = {name: (each.labels, each.value, each.at) for name, each in found.items()}
    assert told == {
        "wait_seconds_bucket 0.2 a": ({"request_id": "second"}, 0.2, 2.5),
        "wait_seconds_bucket +Inf a": ({"request_id": "third"}, 500.0, 3.5),
    }


def test_text_has_no_exemplars() -> None:
    histogram = Histogram(EDGES)

    histogram.observe(0.15, trace_of("first", 1.5))

    assert b"first" not in render(_registered(histogram), Form.TEXT)
    assert samples_of(_registered(histogram))['wait_seconds_bucket{le="0.2",of="a"}'] == 1


def test_second_family_of_a_name_is_refused() -> None:
    registry = _registered(Histogram(EDGES))

    with pytest.raises(DuplicateTimeseries):
        registry.register(HistogramFamily(METRIC, {}))


@pytest.mark.parametrize(
    "request_id",
    ["", "x" * 119, "a\n", "a\x00b", 'a"b', "a\\b", "a{b}", "ä", "\u2028", "٣"],
    ids=[
        *("empty", "too_long", "newline", "nul", "quote", "backslash", "braces", "not_ascii"),
        *("separator", "other_digit"),
    ],
)
def test_id_that_cannot_stand_in_an_exemplar_leaves_no_trace(request_id: str) -> None:
    assert trace_of(request_id, 1.0) is None


@given(st.text(st.characters(max_codepoint=255), max_size=130))
def test_page_can_be_read_whatever_id_a_client_chose(request_id: str) -> None:
    histogram = Histogram(EDGES)
    trace = trace_of(request_id, 1.5)

    histogram.observe(0.15, trace)

    found = exemplars_in(render(_registered(histogram), Form.OPEN_METRICS).decode())
    assert [each.labels for each in found.values()] == ([trace.labels] if trace else [])


@given(st.from_regex(r"[A-Za-z0-9._:/+=@~-]{1,118}", fullmatch=True))
def test_usual_id_comes_out_of_the_page_as_it_went_in(request_id: str) -> None:
    histogram = Histogram(EDGES)

    histogram.observe(0.15, trace_of(request_id, 1.5))

    page = render(_registered(histogram), Form.OPEN_METRICS).decode()
    assert exemplars_in(page)["wait_seconds_bucket 0.2 a"].labels == {"request_id": request_id}
