"""The comparison as Markdown: targets and ratios first, then absolute figures with the machine."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tables import NONE, middle, number, ratio, table, with_spread
from tally import Figures
from targets import TARGETS
from turns import (
    CPU_A_REPLY,
    CPU_A_STREAM,
    FLOOR,
    IMPORT,
    LAG_AT_32,
    LAG_AT_128,
    LAG_P99_AT_32,
    LAG_P99_AT_128,
    P50_AT_1,
    P50_AT_16,
    P99_AT_1,
    P99_AT_16,
    REPLIES_AT_16,
    RESIDENT,
    START,
    STREAMS_AT_16,
    WAY_AT_32,
    WAY_AT_128,
    WAY_P99_AT_32,
    WAY_P99_AT_128,
    YARDSTICK,
    Quantity,
    Turn,
    added,
    nothing_but_errors,
    ratios,
    values,
)

_SPREAD = "Medians of the rounds' own ratios, in brackets the least and the greatest round."
_COMPARED = (
    REPLIES_AT_16,
    STREAMS_AT_16,
    P50_AT_1,
    P99_AT_1,
    CPU_A_REPLY,
    CPU_A_STREAM,
    RESIDENT,
)
_ADDED = (WAY_AT_32, WAY_P99_AT_32, WAY_AT_128, WAY_P99_AT_128)
_ANSWERS = (
    REPLIES_AT_16,
    STREAMS_AT_16,
    P50_AT_1,
    P99_AT_1,
    P50_AT_16,
    P99_AT_16,
    CPU_A_REPLY,
    CPU_A_STREAM,
)
_PACED = (*_ADDED, LAG_AT_32, LAG_P99_AT_32, LAG_AT_128, LAG_P99_AT_128)
_FOOTPRINT = (START, IMPORT, RESIDENT)
_TTFT_ADDED = replace(WAY_AT_32, title="TTFT added, 32 paced streams")
_SHORT = (REPLIES_AT_16, STREAMS_AT_16, P50_AT_1, _TTFT_ADDED, RESIDENT)

_SHORT_HEAD = (
    "Ratios to the bare relay, in brackets the medians themselves. Of TTFT stands what is added to "
    "that without a proxy, in brackets the least and the greatest round:"
)

# The cells of one contender's row in a table of these quantities.
_Cells = Callable[[Sequence[Turn], str, Quantity], str]


def markdown(turns: Sequence[Turn], machine: Sequence[str]) -> str:
    """Everything, for docs/performance.md and the terminal."""
    parts = [
        "### Targets",
        f"Ratios of one run, Sluicegate in pass unless another way is named. {_SPREAD}",
        _targets(turns),
        "### Ratios to the bare relay",
        _SPREAD,
        _contenders(turns, _COMPARED, _compared, units=False),
        "### Added to the time to the first token",
        "Milliseconds more than without any proxy, in the same round.",
        _contenders(turns, _ADDED, _way_added),
        "### Absolute figures",
        "\n".join(f"- {fact}" for fact in machine),
        _contenders(turns, _ANSWERS, _median),
        "TTFT here is the way of the first token alone: there and back, less the upstream's time.",
        _contenders(turns, _PACED, _median),
        _footprint(turns),
        remarks(turns),
    ]
    return "\n\n".join(part for part in parts if part)


def short(turns: Sequence[Turn], machine: Sequence[str]) -> str:
    """What README shows."""
    parts = [
        _SHORT_HEAD,
        _contenders(turns, _SHORT, _ratio_and_median),
        f"{'; '.join(machine)}.",
        _missed(turns),
    ]
    return "\n\n".join(part for part in parts if part)


def remarks(turns: Sequence[Turn]) -> str:
    """What went wrong, so that no empty cell is left without its reason."""
    lines: list[str] = []
    for peer, title in _peers(turns).items():
        own = [turn for turn in turns if turn.peer == peer]
        lines += sorted({f"- {title}: {turn.failure}" for turn in own if turn.failure})
        for measure in dict.fromkeys(name for turn in own for name in turn.figures):
            measured = [turn.figures[measure] for turn in own if measure in turn.figures]
            told = [_errors(measured, own[0].note), _late(measure, measured)]
            lines += [f"- {title}, {measure}: {words}" for words in told if words]
    return "\n".join(lines)


def _errors(measured: Sequence[Figures], note: str) -> str:
    errors = sum(figures.errors for figures in measured)
    good = sum(figures.replies for figures in measured)
    told = f"{errors:,} errors beside {good:,} good replies"
    return (f"{told}. {note}" if note else told) if errors else ""


def _late(measure: str, measured: Sequence[Figures]) -> str:
    """Too few samples for a TTFT: what a contender does under more load than it can bear."""
    rounds = sum(figures.way_p50_ms is None for figures in measured)
    if not rounds or not measure.startswith("paced"):
        return ""
    return (
        f"fewer first tokens than streams in the measured time ({rounds} of {len(measured)} rounds)"
    )


def _targets(turns: Sequence[Turn]) -> str:
    return table(
        ["wanted", "reached", "verdict"], (target.row(turns) for target in TARGETS)
    ).replace("| ---: |\n", "| --- |\n", 1)


def _missed(turns: Sequence[Turn]) -> str:
    rows = (target.row(turns) for target in TARGETS)
    lines = [
        f"- {words}: {wanted} wanted, {reached} reached; {verdict.partition(': ')[2]}"
        for words, wanted, reached, verdict in rows
        if "missed" in verdict
    ]
    return "\n".join(["Targets missed in this run:", "", *lines]) if lines else ""


def _contenders(
    turns: Sequence[Turn], quantities: Sequence[Quantity], cell: _Cells, *, units: bool = True
) -> str:
    """One row for each contender that has any of these figures."""
    head = [quantity.heading if units else quantity.title for quantity in quantities]
    rows = []
    for peer, title in _peers(turns).items():
        cells = [_or_errors(cell, turns, peer, quantity) for quantity in quantities]
        rows += [[title, *cells]] if set(cells) != {NONE} else []
    return table(head, rows)


def _or_errors(cell: _Cells, turns: Sequence[Turn], peer: str, quantity: Quantity) -> str:
    found = cell(turns, peer, quantity)
    failed = found == NONE and nothing_but_errors(turns, peer, quantity.measure)
    return "errors" if failed else found


def _compared(turns: Sequence[Turn], peer: str, quantity: Quantity) -> str:
    return with_spread(ratios(turns, peer, quantity))


def _way_added(turns: Sequence[Turn], peer: str, quantity: Quantity) -> str:
    return NONE if peer == FLOOR else with_spread(added(turns, peer, quantity))


def _median(turns: Sequence[Turn], peer: str, quantity: Quantity) -> str:
    return number(middle(values(turns, peer, quantity)), quantity.digits)


def _ratio_and_median(turns: Sequence[Turn], peer: str, quantity: Quantity) -> str:
    if quantity is _TTFT_ADDED:
        return _way_added(turns, peer, quantity)
    found = _median(turns, peer, quantity)
    compared = middle(ratios(turns, peer, quantity))
    if compared is None or peer == YARDSTICK:
        return found if found == NONE else f"{'1' if peer == YARDSTICK else NONE} ({found})"
    return f"{ratio(compared)} ({found})"


def _footprint(turns: Sequence[Turn]) -> str:
    head = [*(quantity.heading for quantity in _FOOTPRINT), "scrapes", "failed scrapes"]
    rows = []
    for peer, title in _peers(turns).items():
        own = [turn for turn in turns if turn.peer == peer]
        scraped = any(turn.scrapes + turn.scrapes_failed for turn in own)
        cells = [_median(turns, peer, quantity) for quantity in _FOOTPRINT]
        cells.append(f"{sum(turn.scrapes for turn in own)}" if scraped else NONE)
        cells.append(f"{sum(turn.scrapes_failed for turn in own)}" if scraped else NONE)
        rows.append([title, *cells])
    return table(head, rows)


def _peers(turns: Sequence[Turn]) -> dict[str, str]:
    return {turn.peer: turn.title for turn in turns}
