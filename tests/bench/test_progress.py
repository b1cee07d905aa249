import io

from typing_extensions import override

from proxy.bench.progress import Progress


class Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def test_terminal_has_one_bar_that_is_drawn_over_itself() -> None:
    out = Terminal()
    progress = Progress(out, 2)

    progress.step("a long name")
    progress.step("b")
    progress.finish()

    lines = out.getvalue().split("\r")
    assert lines[1] == "[" + "#" * 15 + "." * 15 + "] 1/2 a long name"
    assert lines[2] == "[" + "#" * 30 + "] 2/2 b" + " " * 10 + "\n"


def test_log_has_a_line_now_and_then() -> None:
    out = io.StringIO()
    progress = Progress(out, 45)

    for number in range(45):
        progress.step(f"case {number}")
    progress.finish()

    lines = out.getvalue().splitlines()
    assert len(lines) == 12
    assert lines[0] == "4/45 case 3"
    assert lines[-1] == "45/45 case 44"


def test_bar_that_was_never_drawn_leaves_no_line() -> None:
    out = Terminal()

    Progress(out, 3).finish()

    assert out.getvalue() == ""
