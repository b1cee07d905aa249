"""Whatever rows there are, no panel covers another."""

from itertools import combinations
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from grafana.generator.layout import COLUMNS, Block, Row, placed
from grafana.generator.panels import Json, words

LINES: Final = st.builds(
    lambda count, width, height: Block(_texts(count), width, height),
    st.integers(1, 9),
    st.sampled_from([3, 4, 6, 8, 12, 24]),
    st.integers(1, 9),
)
BESIDE: Final = st.builds(
    lambda count, height: [Block(_texts(1), 8, height), Block(_texts(count), 4, 4)],
    st.integers(1, 9),
    st.integers(1, 20),
)
ROWS: Final = st.lists(
    st.builds(
        Row,
        st.sampled_from(["", "Why?"]),
        st.one_of(LINES.map(lambda block: [block]), BESIDE),
    ),
    max_size=5,
)


def _texts(count: int) -> list[Json]:
    return [words(f"text {number}", "") for number in range(count)]


def _cells(panel: Json) -> set[tuple[int, int]]:
    place = panel["gridPos"]
    columns = range(place["x"], place["x"] + place["w"])
    lines = range(place["y"], place["y"] + place["h"])
    return {(column, line) for column in columns for line in lines}


@given(ROWS)
def test_panels_neither_cover_each_other_nor_leave_the_grid(rows: list[Row]) -> None:
    panels = placed(rows)

    cells = [_cells(panel) for panel in panels]
    assert all(column < COLUMNS for taken in cells for column, _ in taken)
    assert not any(one & other for one, other in combinations(cells, 2))


@given(ROWS)
def test_panels_come_in_the_order_in_which_they_are_read(rows: list[Row]) -> None:
    tops = [panel["gridPos"]["y"] for panel in placed(rows) if panel["type"] == "row"]

    assert tops == sorted(tops)


def test_collapsed_row_keeps_its_panels_inside_and_takes_one_line() -> None:
    folded = Row("Why?", [Block(_texts(2), 12, 8)], collapsed=True)
    after = Row("", [Block(_texts(1), 24, 8)])

    row, text = placed([folded, after])

    assert [panel["title"] for panel in row["panels"]] == ["text 0", "text 1"]
    assert (row["collapsed"], text["gridPos"]["y"]) == (True, 1)
