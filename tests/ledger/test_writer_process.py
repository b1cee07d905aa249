"""The ledger behind a process of its own, as its writer and other programs see it."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writer_process import WriterProcess
from tests.fakes.databases import locked_by_another_process, run_on
from tests.fakes.gate import eventually
from tests.fakes.ledgers import store_at
from tests.fakes.processes import children, runs
from tests.fakes.records import clean_start, request_record, start_record

_PARENT = """
import sys, time
from proxy.ledger.address import read_address
from proxy.ledger.writer_process import WriterProcess
print(WriterProcess(read_address(sys.argv[1]), "a", ()).pid, flush=True)
time.sleep(60)
"""


@contextmanager
def opened(address: LedgerAddress, lanes: tuple[str, ...] = ("main",)) -> Iterator[WriterProcess]:
    process = WriterProcess(address, "a", lanes)
    try:
        yield process
    finally:
        process.close()


def ids(address: LedgerAddress) -> list[str]:
    return [request.id for request in read_requests(address, RequestFilter())]


def test_records_are_written_over_there_as_they_are_here(address: LedgerAddress) -> None:
    start = clean_start("k", "not_json", facts={"vllm": "0.32.0"}, retry_valid=True)
    records = [request_record(str(number)) for number in range(3)]

    with opened(address) as process:
        process.write([start, *records])

    assert read_requests(address, RequestFilter()) == records
    assert read_starts(address) == [start]


def test_opened_ledger_tells_the_starts_of_its_lanes(address: LedgerAddress) -> None:
    start = clean_start("k", untouched=False, certified_at=3.5)
    store = store_at(address)
    store.write([start, start_record("x", lane="other")])
    store.close()

    with opened(address) as process:
        assert process.starts == {"main": [start]}


def test_starts_that_cannot_be_read_do_not_keep_it_from_opening(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store = store_at(sqlite)
    store.write([start_record("k")])
    store.close()
    run_on(sqlite.file, "UPDATE engine_starts SET facts = 'no json'")

    with opened(sqlite) as process:
        process.write([request_record("r")])

        assert process.starts == {}
        assert "does not work" in process.unreadable
    assert ids(sqlite) == ["r"]


def test_trouble_comes_back_as_it_is_over_there(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    with opened(sqlite) as process:
        with locked_by_another_process(sqlite.file), pytest.raises(LedgerTrouble) as caught:
            process.write([request_record()])
        process.write([request_record("after")])

    assert caught.value.kind is Trouble.LOCKED
    assert caught.value.shown == sqlite.shown
    assert ids(sqlite) == ["after"]


def test_record_that_cannot_travel_is_refused(sqlite: LedgerAddress) -> None:
    with opened(sqlite) as process:
        with pytest.raises(LedgerTrouble) as caught:
            process.write([request_record("bad", received_at=None)])
        process.write([request_record("good")])

    assert caught.value.kind is Trouble.REFUSED
    assert ids(sqlite) == ["good"]


def test_ledger_that_cannot_be_opened_leaves_no_process(tmp_path: Path) -> None:
    before = children()

    with pytest.raises(LedgerTrouble) as caught:
        WriterProcess(read_address(f"sqlite:///{tmp_path}/not/there.db"), "a", ())

    assert caught.value.kind is Trouble.NO_FOLDER
    assert children() <= before


def test_process_that_was_killed_is_told(sqlite: LedgerAddress) -> None:
    with opened(sqlite) as process:
        os.kill(process.pid, signal.SIGKILL)

        with pytest.raises(LedgerTrouble, match="the process that writes it has ended"):
            process.write([request_record()])


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_for_the_proxy_do_not_keep_it_from_writing_the_last_records(
    sqlite: LedgerAddress, sent: signal.Signals
) -> None:
    with opened(sqlite) as process:
        os.kill(process.pid, sent)
        process.write([request_record("last")])

    assert ids(sqlite) == ["last"]


def test_closed_ledger_leaves_no_process_and_one_file(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    with opened(sqlite) as process:
        process.write([request_record()])
        pid = process.pid

    assert not runs(pid)
    assert [path.name for path in sqlite.file.parent.iterdir()] == [sqlite.file.name]


def test_address_is_not_among_the_arguments(sqlite: LedgerAddress) -> None:
    with opened(sqlite) as process:
        arguments = Path(f"/proc/{process.pid}/cmdline").read_bytes()

    assert b"ledger.db" not in arguments


async def test_process_ends_with_a_proxy_that_is_killed(
    sqlite: LedgerAddress, tmp_path: Path
) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    command = (sys.executable, str(script), sqlite.url)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    parent = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, env=environ
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()

    await eventually(lambda: not runs(child), 20)
