"""Markdown tables and the spelling of figures in them."""

from collections.abc import Iterable, Sequence
from statistics import median

NONE = "-"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([*table_head(head), *(row(cells) for cells in rows)])


def table_head(titles: Sequence[str]) -> list[str]:
    """A head whose first column holds names, for which no title is needed."""
    return [row(["", *titles]), row(["---"] + ["---:"] * len(titles))]


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:,.{digits}f}"


def middle(values: Sequence[float | None]) -> float | None:
    """The median of what is known."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def ratio(value: float) -> str:
    """Two digits that mean something, whatever the size."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def with_spread(values: Sequence[float]) -> str:
    """The median, in brackets the least and the greatest where they are not the same."""
    if not values:
        return NONE
    least, most = ratio(min(values)), ratio(max(values))
    if least == most:
        return most
    return f"{ratio(median(values))} ({least}–{most})"  # noqa: RUF001 -- a range
