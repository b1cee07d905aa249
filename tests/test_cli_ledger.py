import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.errors import Fault
from proxy.ledger.address import read_address
from tests.fakes.databases import run_on
from tests.fakes.ledgers import store_at
from tests.fakes.records import attempt_record, clean_start, request_record


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A ledger of one request and one start."""
    url = f"sqlite:///{tmp_path}/x.db"
    store = store_at(read_address(url))
    failed = (attempt_record(1, Fault.NOT_JSON),)
    store.write([request_record("r", attempts=failed), clean_start("k", Fault.NOT_JSON)])
    store.close()
    return url


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    with chdir(tmp_path):
        yield


def test_starts_are_shown_with_their_rate(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "starts", "--url", url, "--lane", "main"]) == 0

    assert "1 of 1 first answers invalid: 100 %, 95 % interval 21–100 %" in capsys.readouterr().out  # noqa: RUF001


def test_requests_are_shown_and_filtered(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    filters = ("--outcome", "passed", "--policy", "production", "--fault", "not_json")

    assert main(["ledger", "requests", "--url", url, *filters, "--limit", "5", "--json"]) == 0

    assert [one["id"] for one in json.loads(capsys.readouterr().out)["requests"]] == ["r"]


def test_old_rows_are_pruned(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ledger", "prune", "--url", url, "--older-than", "0s"]

    assert main([*arguments, "--dry-run"]) == 0
    assert "Would remove" in capsys.readouterr().out
    assert main([*arguments, "--starts"]) == 0
    assert "Removed" in capsys.readouterr().out


def test_ledger_of_the_settings_file_is_the_default(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "mine.yaml"
    settings.write_text('ledger: {url: "sqlite:///x.db"}\n')

    assert main(["ledger", "requests", "--config", str(settings)]) == 0
    assert url.endswith("x.db")
    assert "not_json" in capsys.readouterr().out


def test_ledger_that_is_not_there_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "starts"]) == 2

    told = capsys.readouterr().err
    assert told.startswith(f"error: the ledger {tmp_path}/sluicegate.db is not there")
    assert "--url URL" in told
    assert not (tmp_path / "sluicegate.db").exists()


def test_newer_ledger_is_told(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_on(tmp_path / "x.db", "UPDATE sluicegate_ledger_version SET version_num = '0999'")

    assert main(["ledger", "requests", "--url", url]) == 2
    assert "was made by a newer Sluicegate; upgrade" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["starts", "--since", "7x"], "argument --since: `7x` is no period"),
        (["requests", "--outcome", "good"], "argument --outcome: invalid choice: 'good'"),
        (["requests", "--fault", "bad"], "argument --fault: invalid choice: 'bad'"),
        (["requests", "--limit", "0"], "argument --limit: `0` is no whole number above 0"),
        (["requests", "--limit", "99999999"], "or too great"),
        (["prune"], "--older-than"),
        ([], "ACTION"),
    ],
)
def test_wrong_arguments_end_with_2_and_are_named(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ledger", *arguments])

    assert ended.value.code == 2
    assert told in capsys.readouterr().err
