"""PromQL in small pieces: selectors with the dashboards' variables, rates, ratios, quantiles.

What these build means the same on Prometheus 2.42 and 3. A ratio or quantile without traffic has
no value, instead of NaN.
"""

from typing import Final

WINDOW: Final = "$__rate_interval"
RANGE: Final = "$__range"
RANGE_SECONDS: Final = "$__range_s"
# Names that rules go by too. With a variable's "All" every target of a Prometheus would count.
_SHIPPED_JOBS: Final = "sluicegate|vllm"
# Comparisons with NaN are false, so this drops the quantile of an empty histogram.
_IS_A_NUMBER: Final = ">= 0"


def gate(metric: str, *matchers: str) -> str:
    """A metric of the proxies that are chosen above; `sluicegate_` is added."""
    return _select(f"sluicegate_{metric}", "$job", "$instance", *matchers)


def engine(metric: str, *matchers: str) -> str:
    """A metric of the vLLM servers that are chosen above; `vllm:` is added."""
    return _select(f"vllm:{metric}", "$engine_job", "$engine", *matchers)


def host(metric: str, *matchers: str) -> str:
    """A metric of the exporters beside them: node-exporter and DCGM."""
    return _select(metric, "$host_job", "$host", *matchers)


def process(metric: str) -> str:
    """What the system tells of the processes of the proxies that are chosen above."""
    return _select(f"process_{metric}", "$job", "$instance")


def targets() -> str:
    """Whether Prometheus reaches the proxies and servers, by the shipped names of their jobs."""
    return _select("up", _SHIPPED_JOBS, "$instance|$engine")


def rate(series: str) -> str:
    """Per second."""
    return f"rate({series}[{WINDOW}])"


def so_far(series: str) -> str:
    """A counter as it stands: what it counted since its process was started."""
    return f"last_over_time({series}[{WINDOW}])"


def age() -> str:
    """Seconds since each proxy's process was started."""
    return f"(time() - {process('start_time_seconds')})"


def events(series: str) -> str:
    """How often in the whole time range, as a whole number.

    `increase` cannot see what a counter held at its first scrape. So of a proxy that was started
    within the range the counter as it stands is taken, where that is more.
    """
    grown = f"increase({series}[{RANGE}])"
    young = f"({so_far(series)} and on (job, instance) {age()} < {RANGE_SECONDS})"
    return f"round(sum({young} > {grown} or {grown} or {young}))"


def total(expression: str, *by: str) -> str:
    """Summed up, apart for each combination of labels."""
    return f"sum by ({', '.join(by)}) ({expression})" if by else f"sum({expression})"


def per_second(series: str, *by: str) -> str:
    return total(rate(series), *by)


def ratio(part: str, whole: str) -> str:
    """A share; no value while the whole is zero."""
    return f"{part} / ({whole} > 0)"


def share(metric: str, part: str, whole: str = "", *by: str) -> str:
    """Of a proxy's counter: the rate of what `part` matches in the rate of what `whole` does."""
    return _at_most_one(
        ratio(
            per_second(gate(metric, *filter(None, (whole, part))), *by),
            per_second(gate(metric, *filter(None, (whole,))), *by),
        )
    )


def mean(histogram: str) -> str:
    """Of all observations; exact, whatever the buckets. `histogram`: a selector without suffix."""
    return ratio(per_second(_suffixed(histogram, "_sum")), observed(histogram))


def observed(histogram: str) -> str:
    """Observations per second. `histogram`: a selector without suffix."""
    return per_second(_suffixed(histogram, "_count"))


def quantile(q: float, histogram: str, *by: str) -> str:
    """Of a classic histogram, interpolated. `histogram`: a selector without suffix."""
    buckets = per_second(_suffixed(histogram, "_bucket"), "le", *by)
    return f"histogram_quantile({q}, {buckets}) {_IS_A_NUMBER}"


def within(limit: str, histogram: str, never: str) -> str:
    """The share up to a limit, which must be spelled as a bucket's edge is.

    `never`: the rate of what failed and so has no time; it counts as beyond.
    """
    buckets = _suffixed(histogram, "_bucket").replace("}", f',le="{limit}"}}')
    return _at_most_one(ratio(per_second(buckets), f"({observed(histogram)} + {never})"))


def wilson(part: str, whole: str, sign: str) -> str:
    """One end of Wilson's 95 % interval (z = 1.96) of a share; `sign`: `-` lower, `+` upper."""
    rest = f"({part}) * (({whole}) - ({part})) / ({whole})"
    margin = f"1.96 * sqrt({rest} + 0.9604)"
    return f"((({part}) + 1.9208 {sign} {margin}) / (({whole}) + 3.8416))"


def _at_most_one(expression: str) -> str:
    """`rate` extrapolates part and whole apart, so that a share could exceed 1 for a moment."""
    return f"clamp_max({expression}, 1)"


def _select(metric: str, job: str, instance: str, *matchers: str) -> str:
    inside = ",".join((f'job=~"{job}"', f'instance=~"{instance}"', *matchers))
    return f"{metric}{{{inside}}}"


def _suffixed(selector: str, suffix: str) -> str:
    return selector.replace("{", suffix + "{", 1)
