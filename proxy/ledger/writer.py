"""The thread that writes the ledger: batch by batch, patient with every trouble."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from proxy.ledger.backlog import Backlog
from proxy.ledger.condition import Condition
from proxy.ledger.pace import Pace
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

Record = RequestRecord | EngineStartRecord


class OpenLedger(Protocol):
    """An open ledger, as the writer uses it. Raises `LedgerTrouble` alone."""

    def write(self, batch: Sequence[Record]) -> None:
        """Write all records or none."""
        ...

    def close(self) -> None: ...


class Writer:
    """Opens the ledger, writes what waits, and begins anew after a trouble. One thread runs it."""

    def __init__(
        self,
        open_ledger: Callable[[], OpenLedger],
        backlog: Backlog[Record],
        condition: Condition,
        pace: Pace,
    ) -> None:
        self._open_ledger = open_ledger
        self._backlog = backlog
        self._condition = condition
        self._pace = pace
        self._ledger: OpenLedger | None = None
        self._closing = threading.Event()
        self._end = math.inf
        self._pause = 0.0
        self._last_trouble: Trouble | None = None
        self._locked_since = 0.0

    def run(self) -> None:
        """Write until told to end, then what still waits, within `close_seconds`."""
        while not self._closing.wait(self._pause):
            self._turn()
        while len(self._backlog) and self._turn() and len(self._backlog):
            patience = self._end - time.monotonic()
            if patience <= 0:
                break
            time.sleep(min(self._pause, patience))
        self._leave()

    def end(self) -> None:
        self._end = time.monotonic() + self._pace.close_seconds
        self._closing.set()

    def _turn(self) -> bool:
        """Write all that waits; false where trying again soon would not help."""
        try:
            if self._ledger is None:
                self._ledger = self._open_ledger()
            while batch := self._next_batch():
                self._write(self._ledger, batch)
                self._note_success()
        except LedgerTrouble as trouble:
            return self._put_off(trouble)
        self._note_success()
        return True

    def _next_batch(self) -> Sequence[Record]:
        if time.monotonic() >= self._end:
            return ()
        return self._backlog.take(self._pace.batch_records)

    def _note_success(self) -> None:
        self._last_trouble = None
        self._pause = self._pace.batch_seconds
        self._condition.succeeds(self._backlog.dropped)

    def _write(self, ledger: OpenLedger, batch: Sequence[Record]) -> None:
        try:
            ledger.write(batch)
        except LedgerTrouble as trouble:
            if trouble.kind is not Trouble.REFUSED:
                raise
            self._write_each(ledger, batch)
        else:
            self._backlog.done(len(batch))

    def _write_each(self, ledger: OpenLedger, batch: Sequence[Record]) -> None:
        """One record that the database refuses must cost no other."""
        for record in batch:
            try:
                ledger.write([record])
            except LedgerTrouble as trouble:
                if trouble.kind is not Trouble.REFUSED:
                    raise
                self._condition.refuses(trouble)
                self._backlog.drop(1)
            self._backlog.done(1)

    def _put_off(self, trouble: LedgerTrouble) -> bool:
        """Note a trouble and choose when to try again; each time later."""
        is_locked = trouble.kind is Trouble.LOCKED
        least, most = self._pace.lock_seconds if is_locked else self._pace.retry_seconds
        is_new = trouble.kind is not self._last_trouble
        now = time.monotonic()
        if is_new:
            self._locked_since = now
        self._last_trouble = trouble.kind
        self._pause = least if is_new else min(most, 2 * self._pause)
        if not is_locked:
            self._leave()
        if not is_locked or now - self._locked_since >= self._pace.lock_patience_seconds:
            self._condition.fails(trouble)
        return is_locked

    def _leave(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None
