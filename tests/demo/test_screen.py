import io
from collections.abc import Mapping

import pytest
from typing_extensions import override

from proxy.demo.screen import Colour, Screen, printable, shortened, wants_colour


class Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
    ],
    ids=["plain", "no_color", "empty_no_color", "dumb"],
)
def test_terminal_is_coloured_unless_told_otherwise(
    environment: Mapping[str, str], wanted: bool
) -> None:
    assert wants_colour(Terminal(), environment) is wanted


def test_pipe_is_never_coloured() -> None:
    assert not wants_colour(io.StringIO(), {})


def test_coloured_line_ends_its_colour() -> None:
    out = io.StringIO()

    Screen(out, coloured=True).line("outcome", "passed", Colour.GOOD)

    assert out.getvalue() == "  \x1b[2moutcome   \x1b[0m\x1b[32mpassed\x1b[0m\n"


def test_line_without_colour_is_plain_text() -> None:
    out = io.StringIO()

    Screen(out, coloured=False).line("outcome", "passed", Colour.GOOD)

    assert out.getvalue() == "  outcome   passed\n"


def test_control_characters_of_a_model_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\nc\x9b\u202e") == "a\ufffd[2Jb c\ufffd\ufffd"


def test_characters_that_the_output_lacks_are_replaced() -> None:
    ascii_file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    Screen(ascii_file, coloured=False).flow("28°")
    ascii_file.seek(0)

    assert ascii_file.read() == "28?"


def test_long_text_is_cut_and_says_so() -> None:
    assert shortened("a" * 500) == "a" * 400 + " [...]"


def test_white_space_is_folded() -> None:
    assert shortened('{\n  "a": 1\n}') == '{ "a": 1 }'
