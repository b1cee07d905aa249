from proxy.telemetry.queries import quantile, rate


def test_rate_sums_over_all_labels_but_those_named() -> None:
    assert rate("m_total") == "sum(rate(m_total[5m]))"
    assert rate("m_total", "a", "b", matching='c="d"', window="1h") == (
        'sum by (a, b) (rate(m_total{c="d"}[1h]))'
    )


def test_quantile_keeps_the_buckets_apart() -> None:
    assert quantile(0.95, "m_seconds", "gate") == (
        "histogram_quantile(0.95, sum by (gate, le) (rate(m_seconds_bucket[5m])))"
    )
