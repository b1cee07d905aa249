import pytest

from proxy.recipes.boot.boot_line import LINE_CHARACTERS, plain


@pytest.mark.parametrize(
    "line",
    [
        "(EngineCore pid=7) INFO 11-30 16:13:06 [core.py:402] it is ready",
        "(EngineCore_DP0 pid=7) (Worker_TP0 pid=8) INFO 11-30 16:13:06 [a.py:4] it is ready",
        "WARNING 02-14 03:50:41 api_server.py:528] it is ready",
        "INFO 01-22 11:54:36.818 [import_utils.py:85] it is ready",
        "\x1b[0;36m(A pid=1)\x1b[0;0m INFO 11-30 16:13:06 [a.py:1] \x1b[1mit is ready\x1b[0m",
        "it is ready\r",
    ],
    ids=["one process", "handed on", "old", "milliseconds", "coloured", "bare"],
)
def test_line_is_read_without_what_stands_before_it(line: str) -> None:
    assert plain(line) == "it is ready"


def test_indentation_tells_a_traceback_and_is_kept() -> None:
    line = '(EngineCore pid=7) ERROR 11-30 16:13:06 [core.py:8]   File "x.py", line 3'

    assert plain(line) == '  File "x.py", line 3'


def test_nothing_in_a_line_steers_the_terminal_that_shows_it() -> None:
    assert plain("a\x1b]0;title\x07\u202eb\tc").isprintable()


def test_long_line_is_cut() -> None:
    assert len(plain("x" * 10 * LINE_CHARACTERS)) == LINE_CHARACTERS
