"""The writer against a ledger that does what its script says."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from typing_extensions import override

from proxy.ledger.backlog import Backlog
from proxy.ledger.condition import Condition
from proxy.ledger.pace import Pace
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writer import Record, Writer
from proxy.telemetry.record import RequestRecord
from tests.fakes.gate import eventually
from tests.fakes.records import request_record

QUICK = Pace(
    queue_records=20,
    batch_records=4,
    batch_seconds=0.01,
    lock_seconds=(0.005, 0.02),
    lock_patience_seconds=0.2,
    retry_seconds=(0.01, 0.02),
    close_seconds=0.5,
)


class ScriptedLedger:
    """Takes batches unless a trouble is set; refuses those that hold a record `bad`."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.opened = 0
        self.closed = 0
        self.trouble: Trouble | None = None
        self.open_trouble: Trouble | None = None

    def open(self) -> "ScriptedLedger":
        if self.open_trouble:
            raise LedgerTrouble(self.open_trouble, "x.db")
        self.opened += 1
        return self

    def write(self, batch: Sequence[Record]) -> None:
        if self.trouble:
            raise LedgerTrouble(self.trouble, "x.db")
        names = [record.id for record in batch if isinstance(record, RequestRecord)]
        if "bad" in names:
            raise LedgerTrouble(Trouble.REFUSED, "x.db")
        self.batches.append(names)

    def close(self) -> None:
        self.closed += 1

    @property
    def written(self) -> list[str]:
        return [name for batch in self.batches for name in batch]


class Bench:
    """A writer with its ledger, what it said, and how many were dropped."""

    def __init__(self, ledger: ScriptedLedger, pace: Pace = QUICK) -> None:
        self.ledger = ledger
        self.said: list[str] = []
        self.backlog: Backlog[Record] = Backlog(pace.queue_records, lambda _: None)
        self.condition = Condition("x.db", self.said.append)
        self.writer = Writer(ledger.open, self.backlog, self.condition, pace)
        self.thread = threading.Thread(target=self.writer.run)

    def add(self, *names: str) -> None:
        for name in names:
            self.backlog.add(request_record(name))


@contextmanager
def running(ledger: ScriptedLedger, pace: Pace = QUICK) -> Iterator[Bench]:
    bench = Bench(ledger, pace)
    bench.thread.start()
    try:
        yield bench
    finally:
        bench.writer.end()
        bench.thread.join()


async def test_records_are_written_in_batches_in_their_order() -> None:
    ledger = ScriptedLedger()
    bench = Bench(ledger)
    bench.add(*"abcdefghij")

    bench.thread.start()
    await eventually(lambda: len(ledger.written) == 10)
    bench.writer.end()
    bench.thread.join()

    assert ledger.batches == [list("abcd"), list("efgh"), list("ij")]
    assert (bench.condition.works, bench.said, ledger.closed) == (True, [], 1)


async def test_what_waits_at_the_end_is_still_written() -> None:
    ledger = ScriptedLedger()
    with running(ledger, Pace(batch_seconds=60)) as bench:
        await eventually(lambda: ledger.opened == 1)
        bench.add(*"abc")

    assert ledger.written == list("abc")


async def test_locked_ledger_keeps_its_batch_and_says_nothing_for_a_while() -> None:
    ledger = ScriptedLedger()
    ledger.trouble = Trouble.LOCKED
    with running(ledger) as bench:
        bench.add("a")
        await eventually(lambda: bench.backlog.take(1) != ())
        ledger.trouble = None
        await eventually(lambda: ledger.written == ["a"])

    assert (bench.said, bench.backlog.dropped, ledger.opened) == ([], 0, 1)


async def test_ledger_that_stays_locked_is_told_of_and_comes_back_by_itself() -> None:
    ledger = ScriptedLedger()
    ledger.trouble = Trouble.LOCKED
    with running(ledger) as bench:
        bench.add("a")
        await eventually(lambda: bench.said != [])
        worked = bench.condition.works
        ledger.trouble = None
        await eventually(lambda: bench.condition.works)

    assert not worked
    assert len(bench.said) == 2
    assert "locked by another program" in bench.said[0]
    assert "works again; 0 records were lost" in bench.said[1]
    assert ledger.written == ["a"]


@pytest.mark.parametrize("trouble", [Trouble.FULL, Trouble.CORRUPT, Trouble.UNREACHABLE])
async def test_trouble_in_writing_opens_the_ledger_anew_and_keeps_what_waits(
    trouble: Trouble,
) -> None:
    ledger = ScriptedLedger()
    with running(ledger) as bench:
        await eventually(lambda: bench.condition.works)
        ledger.trouble = trouble
        bench.add("a")
        await eventually(lambda: ledger.opened >= 3)
        bench.add("b")
        ledger.trouble = None
        await eventually(lambda: ledger.written == ["a", "b"])

    assert len(bench.said) == 2
    assert ledger.closed == ledger.opened


async def test_ledger_that_cannot_be_opened_is_tried_until_it_can() -> None:
    ledger = ScriptedLedger()
    ledger.open_trouble = Trouble.NEWER
    with running(ledger) as bench:
        bench.add("a")
        await eventually(lambda: bench.said != [])
        ledger.open_trouble = None
        await eventually(lambda: ledger.written == ["a"])

    assert "newer Sluicegate" in bench.said[0]


async def test_more_than_the_queue_holds_is_lost_and_counted() -> None:
    ledger = ScriptedLedger()
    ledger.open_trouble = Trouble.FULL
    with running(ledger) as bench:
        bench.add(*map(str, range(25)))
        await eventually(lambda: bench.said != [])
        ledger.open_trouble = None
        await eventually(lambda: bench.condition.works)

    assert ledger.written == [str(number) for number in range(20)]
    assert bench.backlog.dropped == 5
    assert bench.said[-1].endswith("5 records were lost.")


async def test_record_that_is_refused_costs_no_other() -> None:
    ledger = ScriptedLedger()
    with running(ledger) as bench:
        bench.add("a", "bad", "b", "bad", "c")
        await eventually(lambda: sorted(ledger.written) == ["a", "b", "c"])
        await eventually(lambda: len(bench.backlog) == 0)

    assert bench.backlog.dropped == 2
    assert len(bench.said) == 1
    assert bench.condition.works


async def test_trouble_between_refused_records_writes_none_twice() -> None:
    class Breaking(ScriptedLedger):
        @override
        def write(self, batch: Sequence[Record]) -> None:
            super().write(batch)
            if self.written == ["a"]:
                self.trouble = Trouble.UNREACHABLE

    ledger = Breaking()
    with running(ledger) as bench:
        bench.add("a", "bad", "b")
        await eventually(lambda: bench.said != [])
        ledger.trouble = None
        await eventually(lambda: ledger.written == ["a", "b"])

    assert bench.backlog.dropped == 1


@pytest.mark.parametrize("trouble", [Trouble.LOCKED, Trouble.UNREACHABLE])
async def test_trouble_at_the_end_keeps_nobody_waiting(trouble: Trouble) -> None:
    ledger = ScriptedLedger()
    ledger.trouble = trouble
    with running(ledger) as bench:
        bench.add("a")

    assert len(bench.backlog) == 1
    assert ledger.closed == ledger.opened


async def test_lock_that_is_gone_before_the_end_costs_nothing() -> None:
    ledger = ScriptedLedger()
    ledger.trouble = Trouble.LOCKED
    with running(
        ledger, Pace(close_seconds=30, batch_seconds=0.01, lock_seconds=(0, 0.01))
    ) as bench:
        bench.add("a")
        bench.writer.end()
        ledger.trouble = None

    assert ledger.written == ["a"]
