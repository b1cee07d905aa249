import subprocess
import sys
from pathlib import Path

from proxy import __version__

FILE = Path(__file__).parents[1] / "sluicegate.py"


def _run(file: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(file), "version"], capture_output=True, text=True, check=False
    )


def test_command_runs_the_command_line() -> None:
    done = _run(FILE)

    assert (done.returncode, done.stdout) == (0, f"sluicegate {__version__}\n")


def test_foreign_package_of_the_same_name_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "proxy").mkdir()
    (tmp_path / "proxy" / "__init__.py").write_text("")
    (tmp_path / FILE.name).write_text(FILE.read_text())

    done = _run(tmp_path / FILE.name)

    assert done.returncode == 3
    assert "proxy.py uses the same name" in done.stderr
    assert "venv" in done.stderr
