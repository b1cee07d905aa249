import re

from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.scaling import is_scaled, scale_between


def read(text: str) -> list[Quantity]:
    return quantities(text, set(re.findall(r"[^\W\d_]+", text)))


RECIPE = read("4 Personen, 400 g Kartoffeln, 250 g Teigwaren")


def test_factor_is_stated_by_counting_the_same_thing_anew() -> None:
    assert scale_between(read("800 g für 8 Personen"), RECIPE) == 2


def test_nothing_is_stated_by_other_things_or_the_same_count() -> None:
    assert scale_between(read("8 Zwiebeln, 4 Personen, 7"), RECIPE) is None


def test_scaled_quantity_has_its_original() -> None:
    (eight_hundred,) = read("800 g")

    assert is_scaled(eight_hundred, 2, RECIPE) == RECIPE[1]
    assert is_scaled(eight_hundred, 3, RECIPE) is None
