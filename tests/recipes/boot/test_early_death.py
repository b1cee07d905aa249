import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.boot.early_death import explain

TRACEBACK = """\
(Worker pid=7) ERROR 11-30 16:17:00 [multiproc_executor.py:953] Traceback (most recent call last):
(Worker pid=7) ERROR 11-30 16:17:00 [multiproc_executor.py:953]   File "fp8.py", line 9, in apply
(Worker pid=7) ERROR 11-30 16:17:00 [multiproc_executor.py:953] RuntimeError: _C::static_scaled() \
expected at most 0 argument(s)
Traceback (most recent call last):
    raise RuntimeError(
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""


def test_cause_counts_and_not_what_points_to_it() -> None:
    death = explain(TRACEBACK.splitlines(), 1)

    assert death.what.startswith("it failed with RuntimeError: _C::static_scaled()")
    assert death.line == "RuntimeError: _C::static_scaled() expected at most 0 argument(s)"


def test_cause_counts_more_than_what_was_raised_after_it() -> None:
    lines = [
        "ValueError: No available memory for the cache blocks. Try",
        "ModuleNotFoundError: No module named 'later'",
    ]

    assert "KV cache" in explain(lines, 1).what


def test_killed_engine_was_probably_out_of_memory_and_that_is_not_claimed_as_certain() -> None:
    death = explain(["OSError: [Errno 98] Address already in use"], -signal.SIGKILL)

    assert "SIGKILL" in death.what
    assert "probably" in death.what
    assert "dmesg" in death.remedy


def test_engine_process_that_was_killed_is_told_by_the_server_that_lost_it() -> None:
    line = "(APIServer pid=1) ERROR 11-30 16:17:00 [a.py:9] Engine core proc E died unexpectedly"

    death = explain([line], 1)

    assert "its engine process was killed: probably" in death.what


@pytest.mark.parametrize(
    ("status", "what"),
    [
        (-signal.SIGTERM, "SIGTERM"),
        (-signal.SIGSEGV, "it crashed (SIGSEGV)"),
        (-200, "it crashed (signal 200)"),
        (3, "status 3"),
        (0, "status 0"),
    ],
)
def test_death_without_words_is_told_by_its_status(status: int, what: str) -> None:
    assert what in explain(["INFO nothing special"], status).what


def test_crash_says_what_stood_last_before_it() -> None:
    death = explain(["ValueError: something odd"], -signal.SIGABRT)

    assert death.line == "ValueError: something odd"


@given(st.lists(st.text(max_size=400), max_size=20), st.integers(-70, 255))
def test_any_log_is_explained_in_short_printable_words(lines: list[str], status: int) -> None:
    death = explain(lines, status)

    assert death.what
    assert death.remedy
    assert all(len(text) <= 400 for text in (death.what, death.remedy, death.line))
    assert (death.what + death.remedy + death.line).isprintable()
