import pytest

from proxy.gates.evidence.units import PERCENT, UNITS, Unit, unit_named, unit_of_key


@pytest.mark.parametrize(
    ("one", "other", "value", "converted"),
    [
        ("km", "m", 1, 1000),
        ("dl", "ml", 2.5, 250),
        ("°F", "°C", 212, 100),
        ("°C", "kelvin", 0, 273.15),
        ("mph", "km/h", 60, 96.56064),
        ("Std.", "min", 1.5, 90),
        ("Prozent", "‰", 1, 10),
        ("Rappen", "CHF", 60, 0.6),
        ("GiB", "MiB", 1, 1024),
    ],
)
def test_units_of_one_kind_convert(one: str, other: str, value: float, converted: float) -> None:
    first, second = UNITS[one.lower()], UNITS[other.lower()]

    assert first.kind == second.kind
    assert (first.base(value) - second.offset) / second.factor == pytest.approx(converted)


def test_percent_and_points_are_different_kinds() -> None:
    assert UNITS["prozentpunkte"].kind != PERCENT.kind


@pytest.mark.parametrize("name", ["Personen", "M", "K", "", "/"])
def test_other_words_and_lone_capitals_are_no_units(name: str) -> None:
    assert unit_named(name) is None


def test_amount_per_amount_is_a_unit_of_its_own() -> None:
    milli = unit_named("mg/l")

    assert milli is not None
    assert milli.kind == "mass/volume"
    assert milli.factor == pytest.approx(1e-6)
    assert unit_named("µg/l") != milli
    assert unit_named("mg/Personen") is None
    assert unit_named("°C/min") is None


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("wind_kmh", "kmh"),
        ("temperature_c", "°c"),
        ("sharePct", "pct"),
        ("size.gb", "gb"),
        ("price_eur", "eur"),
    ],
)
def test_key_names_a_unit_in_its_last_part(key: str, name: str) -> None:
    assert unit_of_key(key) == UNITS[name]


@pytest.mark.parametrize("key", ["m", "title", "first_name"])
def test_key_may_name_none(key: str) -> None:
    assert unit_of_key(key) is None


def test_unit_is_a_value() -> None:
    assert Unit("length", 1.0) == UNITS["m"]
