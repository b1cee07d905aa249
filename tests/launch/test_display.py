import os
from contextlib import suppress

import pytest

from proxy.launch.display import Display
from proxy.recipes.boot.boot_log import Phase
from tests.fakes.launch import Screen


def test_pipe_gets_plain_lines_and_no_running_phase() -> None:
    screen = Screen()
    display = Display(screen, {})

    display.phase_runs(Phase.WEIGHTS, 3.0, "36 %")
    display.phase_ended(Phase.WEIGHTS, 12.34, "100 %")

    assert screen.getvalue() == "  weights       12.3 s  100 %\n"


def test_terminal_shows_the_running_phase_in_one_line_that_is_replaced() -> None:
    screen = Screen(terminal=True)
    display = Display(screen, {"TERM": "xterm", "NO_COLOR": "1"})

    display.phase_runs(Phase.WEIGHTS, 3.0, "36 %")
    display.phase_runs(Phase.WEIGHTS, 4.0, "x" * 500)
    display.phase_ended(Phase.WEIGHTS, 12.34, "")

    first, second, last = screen.getvalue().split("\r\x1b[K")[1:]
    assert first == "  weights        3.0 s  36 % …"
    assert len(second) < 80
    assert last == "  weights       12.3 s\n"


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)],
    ids=["terminal", "dumb", "no colour"],
)
def test_colour_is_for_terminals_whose_user_has_not_refused_it(
    environ: dict[str, str], coloured: bool
) -> None:
    screen = Screen(terminal=True)

    Display(screen, environ).good("Ready")

    assert ("\x1b[" in screen.getvalue()) == coloured


def test_engine_s_own_lines_are_shown_where_they_were_asked_for() -> None:
    quiet, loud = Screen(), Screen()

    Display(quiet, {}).engine_line("INFO it loads")
    Display(loud, {}, verbose=True).engine_line("INFO it loads")

    assert quiet.getvalue() == ""
    assert loud.getvalue() == "  | INFO it loads\n"


def test_screen_that_has_gone_costs_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), os.fdopen(writing, "w") as out:
        Display(out, {}).title("nobody reads this")


def test_texts_of_strangers_steer_no_terminal() -> None:
    screen = Screen()
    display = Display(screen, {})

    display.title("a\x1b]0;b\x07")
    display.row("label\r", "text\x1b[2J")
    display.bad("one\ntwo\x9b")
    display.note("c\u202e")

    lines = screen.getvalue().splitlines()
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)
