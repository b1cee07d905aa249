import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter

from proxy.telemetry.exposition import Form, render, wanted_form

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    "accept",
    [
        "application/openmetrics-text",
        "Application/OpenMetrics-Text ; Version=1.0.0",
        PROMETHEUS_2,
        PROMETHEUS_3,
        "text/plain;q=0.5, application/openmetrics-text;q=0.5",
    ],
    ids=["bare", "letter_case", "prometheus_2", "prometheus_3", "as_welcome"],
)
def test_open_metrics_is_spoken_to_whom_it_is_welcome(accept: str) -> None:
    assert wanted_form(accept) is Form.OPEN_METRICS


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/html,application/xhtml+xml,*/*;q=0.8",
        "application/json",
        "text/plain, application/openmetrics-text;q=0.5",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=much",
        "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text-not",
        "," * 10_000 + "application/openmetrics-text",
    ],
    ids=[
        *("none", "anything", "browser", "neither", "less", "refused", "no_number", "later"),
        *("longer_name", "too_many"),
    ],
)
def test_text_is_for_everybody_else(accept: str) -> None:
    assert wanted_form(accept) is Form.TEXT


@given(st.text(st.characters(max_codepoint=255)))
def test_any_header_is_answered(accept: str) -> None:
    assert wanted_form(accept) in Form


def test_both_forms_tell_the_same_samples() -> None:
    registry = CollectorRegistry()
    Counter("seen", "what was seen", ("of",), registry=registry).labels('a"\\\n').inc(3)

    text, opened = (render(registry, form).decode() for form in (Form.TEXT, Form.OPEN_METRICS))

    sample = 'seen_total{of="a\\"\\\\\\n"} 3.0\n'
    assert sample in text
    assert sample in opened
    assert opened.endswith("# EOF\n")
    assert "EOF" not in text
