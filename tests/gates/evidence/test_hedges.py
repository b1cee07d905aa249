import re

import pytest

from proxy.gates.evidence.hedges import Hedge, hedge_at


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("rund 60 Prozent", Hedge.ABOUT),
        ("~60", Hedge.ABOUT),
        ("about a 60", Hedge.ABOUT),
        ("fast 60", Hedge.BELOW),
        ("less than 60", Hedge.BELOW),
        ("knapp unter 60", Hedge.BELOW),
        ("mehr als 60", Hedge.ABOVE),
        ("ein gutes 60", Hedge.ABOVE),
        ("60 or so", Hedge.ABOUT),
        ("60+", Hedge.ABOUT),
        ("at most 60", Hedge.NONE),
        ("mindestens 60", Hedge.NONE),
        ("the 60", Hedge.NONE),
        ("60", Hedge.NONE),
        ("rund um die Uhr kamen 60", Hedge.NONE),
        ("some of the 60", Hedge.ABOUT),
    ],
)
def test_hedge_stands_before_or_behind_a_number(text: str, hedge: Hedge) -> None:
    match = re.search(r"\d+", text)

    assert match is not None
    assert hedge_at(text, *match.span()) is hedge
