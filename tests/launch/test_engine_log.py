from itertools import count
from pathlib import Path

from proxy.launch.display import Display
from proxy.launch.engine_log import EngineLog
from proxy.launch.log_file import LogFile
from proxy.recipes.boot.boot_log import Phase
from tests.fakes.launch import BOOT_LOG, Screen


def test_printed_log_goes_to_file_display_boot_log_and_tail(tmp_path: Path) -> None:
    screen = Screen()
    printed = BOOT_LOG.read_bytes() + b"an end without a line end"
    seconds = count()
    with LogFile(tmp_path / "a.log") as file:
        log = EngineLog(file, Display(screen, {}), lambda: float(next(seconds)))

        for at in range(0, len(printed), 100):
            log(printed[at : at + 100])
        log.ready()

    assert (tmp_path / "a.log").read_bytes() == printed
    assert log.path == tmp_path / "a.log"
    assert log.boot.phase is Phase.READY
    assert log.boot.facts["kv_cache_tokens"] == "45056"
    assert log.tail()[-2:] == (
        "INFO:     Application startup complete.",
        "an end without a line end",
    )
    assert [line.split()[0] for line in screen.getvalue().splitlines()] == [
        *("program", "arguments", "engine", "weights", "KV", "server"),
    ]


def test_phase_is_timed_from_the_line_that_began_it(tmp_path: Path) -> None:
    screen, now = Screen(terminal=True), [10.0]
    with LogFile(tmp_path / "a.log") as file:
        log = EngineLog(file, Display(screen, {"NO_COLOR": "1"}), lambda: now[0])
        now[0] = 12.0
        log(b"Starting to load model m...\n")
        now[0] = 15.5

        log.tick()

    assert "  program        2.0 s\n" in screen.getvalue()
    assert screen.getvalue().endswith("  weights        3.5 s …")
    assert log.seconds == 5.5


def test_only_the_last_lines_are_kept_in_memory(tmp_path: Path) -> None:
    with LogFile(tmp_path / "a.log") as file:
        log = EngineLog(file, Display(Screen(), {}), lambda: 0.0)

        log(b"line\n" * 5000 + b"last\n")

    assert len(log.tail()) == 600
    assert log.tail()[-1] == "last"
