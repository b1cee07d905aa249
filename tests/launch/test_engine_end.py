from pathlib import Path

from proxy.launch.engine_end import BootTooSlow, EngineDied
from proxy.recipes.boot.boot_log import Phase


def test_death_is_told_with_cause_remedy_and_the_last_lines() -> None:
    tail = [*map(str, range(20)), "", "OSError: [Errno 98] Address already in use\x1b[0m"]

    died = EngineDied("after 3 s, at `weights`", 1, tail, Path("/logs/a.log"), None)

    lines = str(died).splitlines()
    assert lines[:4] == [
        "vLLM died after 3 s, at `weights`: another program listens on the port",
        "  remedy: end it, or choose another `--port`",
        "  it said: OSError: [Errno 98] Address already in use",
        "  its log: /logs/a.log, which ends with",
    ]
    assert lines[4] == "    | 13"
    assert lines[-1] == "    | OSError: [Errno 98] Address already in use"
    assert len(lines) == 12


def test_slow_boot_names_its_phase_and_the_option() -> None:
    told = str(BootTooSlow(90, Phase.COMPILATION, Path("/logs/a.log")))

    assert "not ready after 90 s; it was at `compilation`" in told
    assert "--boot-seconds" in told
