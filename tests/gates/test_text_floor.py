from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_floor import floor_for
from proxy.gates.text_html import HtmlText, strip_html
from proxy.gates.text_units import TextMeter, Unit, whole

METER = TextMeter()
WATCHED = [Unit.GRAPHEMES, Unit.CHARACTERS, Unit.WORDS, Unit.LINES, Unit.PARAGRAPHS]
PIECE = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        ["Wort ", " ", "\n", "\n\n", "e", "\u0301", "\u200d", "👩", "图书馆", "\u00ad"]
    ),
    st.sampled_from(["\ud83d", "\udc4d", "\r\n", "🇩", "🇪", "-", "क", "्", "षि", "각"]),
)


def _floors(unit: Unit, pieces: list[str], *, joins_blanks: bool = False) -> list[int]:
    new_floor = floor_for(unit, METER, joins_blanks=joins_blanks)
    assert new_floor is not None
    floor = new_floor()
    return [floor.feed(piece) for piece in pieces]


@given(st.sampled_from(WATCHED), st.lists(PIECE, min_size=1, max_size=30))
def test_floor_never_runs_ahead_of_the_whole_text(unit: Unit, pieces: list[str]) -> None:
    floors = _floors(unit, pieces)

    assert max(floors) <= METER.count(whole("".join(pieces)), unit)
    assert all(earlier <= later for earlier, later in pairwise(floors))


@given(
    st.lists(st.sampled_from(["a ", "<b>", "</p>", "<p>", " ", "&amp;", "<br>", "é"]), max_size=30)
)
def test_floor_of_html_never_runs_ahead(pieces: list[str]) -> None:
    reader = HtmlText()
    seen = [reader.feed(piece) for piece in pieces]

    floors = _floors(Unit.GRAPHEMES, seen, joins_blanks=True)

    assert max(floors, default=0) <= METER.count(strip_html("".join(pieces)), Unit.GRAPHEMES)


@pytest.mark.parametrize(
    ("unit", "text", "floor"),
    [
        (Unit.GRAPHEMES, "Grüße 👍🏽!", 8),
        (Unit.CHARACTERS, "abc  ", 3),
        (Unit.WORDS, "eins - zwei drei", 3),
        (Unit.LINES, "a\n\nb\n", 2),
        (Unit.PARAGRAPHS, "a\nb\n \nc", 2),
    ],
)
def test_floor_of_a_plain_text_is_its_count(unit: Unit, text: str, floor: int) -> None:
    assert _floors(unit, list(text))[-1] == floor


def test_run_of_blanks_beyond_measure_ends_the_watching() -> None:
    assert _floors(Unit.GRAPHEMES, ["a", " " * 2000, "bcd"])[-1] == 1


@pytest.mark.parametrize("unit", [Unit.SENTENCES, Unit.TOKENS])
def test_units_of_which_more_text_may_make_fewer_have_no_floor(unit: Unit) -> None:
    assert floor_for(unit, METER, joins_blanks=False) is None


def test_lines_of_marked_up_text_have_no_floor() -> None:
    assert floor_for(Unit.LINES, METER, joins_blanks=True) is None
