import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.parsing.braces import (
    MAX_CHARACTERS,
    EndlessValue,
    Values,
    doubles_braces,
    placeholders,
)


def filled(command: str, **values: str) -> str:
    return Values(values).fill(command, doubled=doubles_braces(command))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param('{"method":"mtp"}', '{"method":"mtp"}', id="single braces"),
        pytest.param('{{"method":"mtp"}}', '{"method":"mtp"}', id="doubled braces"),
        pytest.param('{{"k":{num}}}', '{"k":1}', id="placeholder within doubled braces"),
        pytest.param('{"k":{num}}', '{"k":1}', id="placeholder within single braces"),
        pytest.param('{"a":{"b":1}}', '{"a":{"b":1}}', id="nested single braces"),
        pytest.param('{"a":{"b":{"c":1}}}', '{"a":{"b":{"c":1}}}', id="three single ones"),
        pytest.param("{num}{num}", "11", id="side by side"),
        pytest.param("{other} { num }", "{other} { num }", id="not known, or no identifier"),
    ],
)
def test_one_rule_reads_every_style(command: str, expected: str) -> None:
    assert filled(command, num="1") == expected


def test_values_are_not_read_again_in_version_1() -> None:
    assert filled("{a}", a="{b}", b="x") == "{b}"


def test_values_may_hold_placeholders_in_version_2() -> None:
    values = Values({"a": "{b}-{b}", "b": "{c}", "c": '{"x":{{1}}}'}, nested=True)

    assert values.fill("{a}") == '{"x":{{1}}}-{"x":{{1}}}'


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"a": "{a}"}, id="names itself"),
        pytest.param({"a": "{b}", "b": "{a}"}, id="name each other"),
        pytest.param({**{f"v{n}": f"{{v{n + 1}}}" for n in range(12)}, "a": "{v0}"}, id="too deep"),
    ],
)
def test_values_without_an_end_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(EndlessValue, match="needs values that name each other: `a`, "):
        Values(values, nested=True).fill("{a}")


def test_value_that_grows_without_bound_is_refused() -> None:
    names = string.ascii_lowercase[:9]
    values = {name: f"{{{after}}}" * 1000 for name, after in itertools.pairwise(names)}

    with pytest.raises(EndlessValue, match=f"grows beyond {MAX_CHARACTERS} characters"):
        Values({**values, "i": "x"}, nested=True).fill("{a}")


def test_empty_values_that_multiply_cost_little() -> None:
    names = string.ascii_lowercase[:9]
    values = {name: f"{{{after}}}" * 1000 for name, after in itertools.pairwise(names)}

    assert Values({**values, "i": ""}, nested=True).fill("{a}") == ""


def test_placeholders_are_named_in_order() -> None:
    assert placeholders('{b} {{a}} {"c":1} {1d}') == ("b", "a")


@given(
    st.lists(
        st.sampled_from(["{{", "}}", "{num}", "{name}", '"', "a", " "]), min_size=1, max_size=12
    )
)
def test_what_str_format_can_render_is_rendered_alike(parts: list[str]) -> None:
    command = "".join(parts)
    values = {"num": "1", "name": "x{y}"}
    try:
        expected = command.format(**values)
    except (ValueError, KeyError, IndexError):
        return

    assert not doubles_braces(command) or filled(command, **values) == expected
