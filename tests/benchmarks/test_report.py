"""The comparison as Markdown."""

from report import markdown, remarks, short
from tally import Figures
from turns import Turn

from tests.benchmarks.made_run import MACHINE, TITLES, run

NO_STREAMS = Turn(
    1,
    "portkey",
    TITLES["portkey"],
    {"stream_16": Figures(completed=0, errors=7, per_second=0.0)},
    resident_mib=80.0,
    note="known since long",
)
NOT_THERE = Turn(1, "nginx", "nginx", failure="not measured: no nginx here")


def row(report: str, heading: str, title: str) -> list[str]:
    """The cells of a contender in the first table below a heading."""
    lines = report.partition(heading)[2].splitlines()
    found = next(line for line in lines if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_ratios_come_before_absolute_figures_and_those_with_the_machine() -> None:
    report = markdown(run(), MACHINE)

    headings = [line for line in report.splitlines() if line.startswith("#")]
    assert headings == [
        "### Targets",
        "### Ratios to the bare relay",
        "### Added to the time to the first token",
        "### Absolute figures",
    ]
    assert all(f"- {fact}" in report.partition("### Absolute")[2] for fact in MACHINE)


def test_row_of_a_contender_holds_its_ratios() -> None:
    cells = row(markdown(run(), MACHINE), "### Ratios", "Sluicegate, pass")

    assert cells[1] == "0.50"
    assert cells[3] == "2.00"


def test_load_of_nothing_but_errors_is_named_so_and_explained() -> None:
    report = markdown([*run(), NO_STREAMS], MACHINE)

    assert row(report, "### Ratios", "Portkey's gateway")[2] == "errors"
    told = "- Portkey's gateway, stream_16: 7 errors beside 0 good replies. known since long"
    assert told in report


def test_contender_that_did_not_start_is_told() -> None:
    assert remarks([*run(), NOT_THERE]) == "- nginx: not measured: no nginx here"


def test_short_report_has_ratio_and_median_and_every_missed_target() -> None:
    report = short(run(), MACHINE)

    assert row(report, "Ratios", "bare relay")[1] == "1 (1,500)"
    assert row(report, "Ratios", "Sluicegate, pass")[1] == "0.50 (750)"
    assert "- p50 at one connection, to the bare relay: at most 1.40 wanted, 2.00" in report
    assert "; ".join(MACHINE) in report


def test_contender_that_was_too_slow_for_a_ttft_is_told() -> None:
    late = Turn(1, "litellm", TITLES["litellm"], {"paced_32": Figures(0, 0, 0.0, way_samples=9)})

    told = "- LiteLLM's proxy, paced_32: fewer first tokens than streams in the measured time (1 of"
    assert remarks([late]).startswith(told)
