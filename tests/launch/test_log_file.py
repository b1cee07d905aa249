from pathlib import Path

import pytest

from proxy.errors import SettingsError
from proxy.launch.log_file import LogFile, log_path
from tests.fakes.launch import NOW


def test_everything_stands_in_the_file_as_it_came(tmp_path: Path) -> None:
    with LogFile(tmp_path / "new" / "a.log") as log:
        log.write(b"one\xff")
        log.write(b"two\n")

    assert (tmp_path / "new" / "a.log").read_bytes() == b"one\xfftwo\n"


def test_full_file_is_put_aside_and_only_the_last_one_kept(tmp_path: Path) -> None:
    with LogFile(tmp_path / "a.log", most_bytes=10) as log:
        for digit in b"123":
            log.write(bytes([digit]) * 8)

    assert (tmp_path / "a.log").read_bytes() == b"3" * 8
    assert (tmp_path / "a.log.1").read_bytes() == b"2" * 8
    assert len(list(tmp_path.iterdir())) == 2


def test_disk_that_fails_later_costs_the_log_alone(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    with LogFile(folder / "a.log", most_bytes=10) as log:
        log.write(b"1" * 8)
        (folder / "a.log").unlink()
        folder.rmdir()
        folder.touch()

        log.write(b"2" * 8)
        log.write(b"3" * 8)

    assert folder.read_bytes() == b""


def test_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SettingsError, match=r"cannot be written.*--log-folder"):
        LogFile(tmp_path / "file" / "a.log")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a b/c", "..", "ü" * 300, ""])
def test_name_of_a_recipe_leads_out_of_no_folder(tmp_path: Path, name: str) -> None:
    path = log_path(tmp_path, name, NOW)

    assert path.parent == tmp_path
    assert "20261130-120000" in path.name
    assert len(path.name) < 150
