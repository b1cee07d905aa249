"""Peers that are not there are named with their remedy."""

from pathlib import Path

import pytest
from installation import NotInstalled, found, run


def test_peer_that_is_not_installed_names_the_command_that_does_it(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="LiteLLM is not installed; `make bench` does it"):
        found(tmp_path / "python", "LiteLLM")


def test_installer_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(NotInstalled, match=r"`sh -c .*` failed: no network"):
        run(["sh", "-c", "echo first >&2; echo no network >&2; exit 3"])


def test_installer_that_is_not_there_is_told() -> None:
    with pytest.raises(NotInstalled, match="no-such-installer"):
        run(["no-such-installer"])


def test_output_of_both_streams_is_read() -> None:
    assert run(["sh", "-c", "echo 1; echo 2 >&2"]) == "1\n2\n"
