import asyncio
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.ledger import Ledger
from proxy.ledger.pace import Pace
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.trouble import LedgerTrouble
from proxy.telemetry.engine_start import EngineStartRecord
from tests.fakes.databases import locked_by_another_process, run_on
from tests.fakes.gate import eventually
from tests.fakes.ledgers import store_at
from tests.fakes.postgres import PASSWORD, Postgres, postgres_programs, running_postgres
from tests.fakes.processes import children
from tests.fakes.records import POLICY, SEEN_AT, clean_start, request_record, start_record

QUICK = Pace(
    queue_records=50,
    batch_seconds=0.02,
    lock_seconds=(0.02, 0.05),
    lock_patience_seconds=0.1,
    retry_seconds=(0.05, 0.1),
    memory_seconds=30,
    close_seconds=2.0,
)


class Opened:
    """A ledger and how many records it lost."""

    def __init__(self, address: LedgerAddress, pace: Pace, levels: Mapping[str, str]) -> None:
        self.lost = 0
        self.ledger = Ledger(
            address, levels=levels, lanes=("main", "judge"), on_drop=self._lose, pace=pace
        )

    def _lose(self, count: int) -> None:
        self.lost += count


@asynccontextmanager
async def opened(
    address: LedgerAddress, pace: Pace = QUICK, levels: Collection[tuple[str, str]] = ()
) -> AsyncIterator[Opened]:
    one = Opened(address, pace, dict(levels or [(POLICY, "verdicts")]))
    try:
        yield one
    finally:
        await asyncio.to_thread(one.ledger.close)


def ids(address: LedgerAddress) -> list[str]:
    try:
        return [request.id for request in read_requests(address, RequestFilter(limit=10_000))]
    except LedgerTrouble:
        return []


def written_before(address: LedgerAddress, *starts: EngineStartRecord) -> None:
    store = store_at(address, "before")
    store.write(starts)
    store.close()


async def test_records_are_in_the_database_a_moment_later(address: LedgerAddress) -> None:
    async with opened(address) as one:
        one.ledger.add(request_record("r"))
        one.ledger.start(start_record("k"))
        await eventually(lambda: ids(address) == ["r"], 20)
        await eventually(lambda: one.ledger.works)

        assert [start.key for start in read_starts(address)] == ["k"]


async def test_what_waits_is_written_when_the_ledger_is_closed(sqlite: LedgerAddress) -> None:
    async with opened(sqlite, Pace(batch_seconds=60)) as one:
        await one.ledger.remembered("main")
        for number in range(300):
            one.ledger.add(request_record(str(number), received_at=SEEN_AT + number))

    assert ids(sqlite) == [str(number) for number in range(300)]
    assert one.lost == 0


async def test_policy_decides_what_is_kept(sqlite: LedgerAddress) -> None:
    levels = [("a@1", "verdicts"), ("b@2", "none")]
    async with opened(sqlite, levels=levels) as one:
        for name, policy in (("1", "a@1"), ("2", "b@2"), ("3", None), ("4", "c@3")):
            one.ledger.add(request_record(name, policy=policy))

    assert ids(sqlite) == ["1"]


async def test_starts_are_remembered_by_lane_and_key(address: LedgerAddress) -> None:
    start = clean_start("k", certified_at=SEEN_AT)
    written_before(address, start, start_record("k", lane="judge"), start_record("x", lane="other"))

    async with opened(address) as one:
        assert await one.ledger.remembered("main") == {"k": start}
        assert (await one.ledger.remembered("judge")).keys() == {"k"}
        assert await one.ledger.remembered("other") == {}


async def test_last_fifty_starts_are_remembered(sqlite: LedgerAddress) -> None:
    starts = [start_record(f"{number}", seen_at=SEEN_AT + number) for number in range(60)]
    written_before(sqlite, *starts)

    async with opened(sqlite) as one:
        remembered = await one.ledger.remembered("main")

    assert set(remembered) == {str(number) for number in range(10, 60)}


async def test_new_ledger_remembers_nothing(sqlite: LedgerAddress) -> None:
    async with opened(sqlite) as one:
        assert await one.ledger.remembered("main") == {}


async def test_lock_on_writing_does_not_keep_starts_from_being_remembered(
    sqlite: LedgerAddress,
) -> None:
    assert sqlite.file
    written_before(sqlite, start_record("k"))

    with locked_by_another_process(sqlite.file):
        async with opened(sqlite) as one:
            remembered = await one.ledger.remembered("main")

    assert remembered.keys() == {"k"}


async def test_ledger_that_does_not_answer_holds_the_start_up_no_longer(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file

    with locked_by_another_process(sqlite.file, "BEGIN EXCLUSIVE"):
        async with opened(sqlite, Pace(memory_seconds=0.1, close_seconds=0.1)) as one:
            assert await one.ledger.remembered("main") == {}

    assert "starts without its memory" in caplog.text


async def test_broken_ledger_remembers_nothing_at_once(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    sqlite.file.write_text("no database\n" * 100)

    async with opened(sqlite, Pace(memory_seconds=600)) as one:
        assert await one.ledger.remembered("main") == {}


async def test_start_that_cannot_be_read_costs_memory_alone(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file
    written_before(sqlite, start_record("k"))
    run_on(sqlite.file, "UPDATE engine_starts SET facts = 'no json'")

    async with opened(sqlite) as one:
        assert await one.ledger.remembered("main") == {}
        one.ledger.add(request_record("r"))
        await eventually(lambda: ids(sqlite) == ["r"])

    assert "none is remembered" in caplog.text


async def test_lock_of_another_process_is_outlasted(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file
    async with opened(sqlite) as one:
        await eventually(lambda: one.ledger.works)
        with locked_by_another_process(sqlite.file):
            for number in range(3):
                one.ledger.add(request_record(str(number)))
            await eventually(lambda: not one.ledger.works)
        await eventually(lambda: one.ledger.works)

        assert sorted(ids(sqlite)) == ["0", "1", "2"]
    assert one.lost == 0
    assert len(caplog.messages) == 2
    assert "is locked by another program" in caplog.messages[0]
    assert "works again; 0 records were lost" in caplog.messages[1]


async def test_lock_that_outlasts_the_queue_costs_what_finds_no_room(
    sqlite: LedgerAddress,
) -> None:
    assert sqlite.file
    async with opened(sqlite) as one:
        await eventually(lambda: one.ledger.works)
        with locked_by_another_process(sqlite.file):
            for number in range(500):
                one.ledger.add(request_record(str(number)))
            await eventually(lambda: not one.ledger.works)
            lost = one.lost
        await eventually(lambda: one.ledger.works)

        assert len(ids(sqlite)) == 500 - lost
    assert lost >= 300


async def test_file_that_is_no_database_can_be_moved_away_while_the_proxy_runs(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file
    sqlite.file.write_text("no database\n" * 100)
    async with opened(sqlite) as one:
        one.ledger.add(request_record("r"))
        await eventually(lambda: caplog.messages != [])
        sqlite.file.rename(sqlite.file.with_suffix(".old"))
        await eventually(lambda: ids(sqlite) == ["r"])

    assert len(caplog.messages) == 2
    assert sqlite.file.with_suffix(".old").read_text().startswith("no database")


async def test_missing_folder_can_be_made_while_the_proxy_runs(tmp_path: Path) -> None:
    address = read_address(f"sqlite:///{tmp_path}/later/x.db")
    async with opened(address) as one:
        one.ledger.add(request_record("r"))
        await one.ledger.remembered("main")
        works = one.ledger.works
        (tmp_path / "later").mkdir()
        await eventually(lambda: ids(address) == ["r"])

    assert not works


async def test_file_that_was_deleted_is_made_anew(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file
    async with opened(sqlite) as one:
        one.ledger.add(request_record("before"))
        await eventually(lambda: ids(sqlite) == ["before"])
        for file in sqlite.file.parent.glob("ledger.db*"):
            file.unlink()
        one.ledger.add(request_record("after"))
        await eventually(lambda: ids(sqlite) == ["after"])

    assert "moved or deleted" in caplog.messages[0]


async def test_writing_process_that_was_killed_costs_no_record(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    others = children()
    async with opened(sqlite) as one:
        one.ledger.add(request_record("before"))
        await eventually(lambda: ids(sqlite) == ["before"])
        for pid in children() - others:
            os.kill(pid, signal.SIGKILL)
        one.ledger.add(request_record("after", received_at=SEEN_AT + 1))
        await eventually(lambda: ids(sqlite) == ["before", "after"])
        await eventually(lambda: one.ledger.works)

    assert one.lost == 0
    assert "the process that writes it has ended" in caplog.messages[0]


async def test_newer_ledger_is_refused_and_left_alone(
    sqlite: LedgerAddress, caplog: pytest.LogCaptureFixture
) -> None:
    assert sqlite.file
    written_before(sqlite, start_record("k"))
    run_on(sqlite.file, "UPDATE sluicegate_ledger_version SET version_num = '0999'")
    before = sqlite.file.read_bytes()

    async with opened(sqlite) as one:
        one.ledger.add(request_record("r"))
        assert await one.ledger.remembered("main") == {}
        await eventually(lambda: caplog.messages != [])

    assert sqlite.file.read_bytes() == before
    assert "made by a newer Sluicegate; upgrade, or name another" in caplog.messages[0]
    assert one.lost == 1
    assert "did not take the last 1 records" in caplog.messages[-1]


async def test_trouble_is_told_in_one_line_without_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = read_address("postgresql://me:s3cret@127.0.0.1:1/x?connect_timeout=1")
    with caplog.at_level(logging.DEBUG):
        async with opened(address) as one:
            for number in range(5):
                one.ledger.add(request_record(str(number)))
            assert await one.ledger.remembered("main") == {}
            await eventually(lambda: caplog.messages != [])

    mine = [record for record in caplog.records if record.name.startswith("proxy")]
    assert len(mine) == 2
    assert "cannot be reached" in mine[0].message
    assert "s3cret" not in caplog.text


async def test_taking_a_record_does_no_work(sqlite: LedgerAddress) -> None:
    """Records of a ledger that hangs are taken like any other, and raise nothing."""
    assert sqlite.file
    with locked_by_another_process(sqlite.file, "BEGIN EXCLUSIVE"):
        async with opened(sqlite) as one:
            for number in range(1000):
                one.ledger.add(request_record(str(number), received_at=None))
                one.ledger.start(start_record(str(number)))

    assert one.lost >= 1900


async def test_closing_waits_for_no_stuck_database(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    pace = Pace(batch_seconds=0.01, close_seconds=0.1)
    with locked_by_another_process(sqlite.file, "BEGIN EXCLUSIVE"):
        async with opened(sqlite, pace) as one:
            one.ledger.add(request_record("r"))

    assert one.lost == 1


async def test_record_that_cannot_be_stored_is_lost_alone(sqlite: LedgerAddress) -> None:
    async with opened(sqlite) as one:
        one.ledger.add(request_record("a"))
        one.ledger.add(request_record("bad", received_at=None))
        one.ledger.add(request_record("\ud800"))
        await eventually(lambda: len(ids(sqlite)) == 2)
        await eventually(lambda: one.ledger.works)
    assert sorted(ids(sqlite)) == ["?", "a"]
    assert one.lost == 1


@contextmanager
def own_server() -> Iterator[Postgres]:
    programs = postgres_programs()
    if programs is None:
        pytest.skip("the programs of PostgreSQL's server are not installed")
    with running_postgres(programs) as server:
        yield server


@pytest.mark.slow
async def test_postgresql_may_go_away_and_come_back(caplog: pytest.LogCaptureFixture) -> None:
    with own_server() as server:
        address = read_address(server.new_database("gate"))
        async with opened(address) as one:
            one.ledger.add(request_record("before"))
            await eventually(lambda: ids(address) == ["before"], 20)
            await asyncio.to_thread(server.stop)
            one.ledger.add(request_record("meanwhile", received_at=SEEN_AT + 1))
            await eventually(lambda: not one.ledger.works, 20)
            await asyncio.to_thread(server.start)
            await eventually(lambda: ids(address) == ["before", "meanwhile"], 20)
            await eventually(lambda: one.ledger.works)

    assert one.lost == 0
    assert len(caplog.messages) == 2
    assert PASSWORD not in caplog.text


@pytest.mark.slow
async def test_postgresql_that_is_away_at_the_start_comes_later() -> None:
    with own_server() as server:
        address = read_address(server.new_database("gate"))
        server.stop()
        async with opened(address) as one:
            assert await one.ledger.remembered("main") == {}
            one.ledger.add(request_record("r"))
            await asyncio.to_thread(server.start)
            await eventually(lambda: ids(address) == ["r"], 20)


def test_writing_thread_ends_with_the_ledger(sqlite: LedgerAddress) -> None:
    Ledger(sqlite, levels={}, lanes=()).close()

    assert not [thread for thread in threading.enumerate() if thread.name == "ledger"]
