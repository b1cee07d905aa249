"""The ledger as the proxy uses it: takes records at once, remembers engine starts."""

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Final

from proxy.ledger.address import LedgerAddress
from proxy.ledger.backlog import Backlog
from proxy.ledger.condition import Condition
from proxy.ledger.pace import Pace
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writer import Record, Writer
from proxy.ledger.writer_process import WriterProcess
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

KEPT: Final = "verdicts"
_LOG: Final = logging.getLogger(__name__)

Memory = Mapping[str, Mapping[str, EngineStartRecord]]


class Ledger:
    """A sink of requests and of engine starts. `add` and `start` neither block nor raise.

    `levels`: what each policy, by its label, has recorded; requests of no policy are not.
    `lanes`: whose engine starts are remembered. `on_drop` hears how many records were lost.
    """

    def __init__(
        self,
        address: LedgerAddress,
        *,
        levels: Mapping[str, str],
        lanes: Collection[str],
        on_drop: Callable[[int], None] = lambda _: None,
        pace: Pace | None = None,
    ) -> None:
        self._address = address
        self._kept = frozenset(label for label, level in levels.items() if level == KEPT)
        self._lanes = tuple(lanes)
        self._pace = pace or Pace()
        self._backlog: Backlog[Record] = Backlog(self._pace.queue_records, on_drop)
        self._condition = Condition(address.shown, _LOG.warning)
        self._memory: Future[Memory] = Future()
        self._process: WriterProcess | None = None
        self._name = uuid.uuid4().hex
        if address.file is not None and not address.file.exists():
            self._settle_memory({})
        self._writer = Writer(self._open, self._backlog, self._condition, self._pace)
        self._thread = threading.Thread(target=self._writer.run, name="ledger", daemon=True)
        self._thread.start()

    @property
    def works(self) -> bool:
        """Whether it was open and could be written when that was last tried."""
        return self._condition.works

    def add(self, record: RequestRecord) -> None:
        if record.policy in self._kept:
            self._backlog.add(record)

    def start(self, record: EngineStartRecord) -> None:
        self._backlog.add(record)

    async def remembered(self, lane: str) -> Mapping[str, EngineStartRecord]:
        """The lane's last engine starts by key, as they were when the ledger was opened.

        A ledger that is locked, away or broken holds up the start of the proxy for
        `memory_seconds` at most: then nothing is remembered.
        """
        memory = asyncio.wrap_future(self._memory)
        await asyncio.wait({memory}, timeout=self._pace.memory_seconds)
        if memory.done():
            return memory.result().get(lane, {})
        _LOG.warning(
            "The ledger %s did not answer in time; the proxy starts without its memory of "
            "engine starts.",
            self._address.shown,
        )
        return {}

    def close(self) -> None:
        """Write what waits and stop; waits at most `close_seconds` and a little."""
        self._writer.end()
        self._thread.join(self._pace.close_seconds + 0.5)
        self._condition.ends(self._backlog.drop_all())
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()

    def _open(self) -> WriterProcess:
        try:
            self._process = WriterProcess(self._address, self._name, self._lanes)
        except LedgerTrouble as trouble:
            if trouble.kind is not Trouble.LOCKED:
                self._settle_memory({})
            raise
        if self._process.unreadable:
            _LOG.warning(
                "Engine starts cannot be read, none is remembered: %s.", self._process.unreadable
            )
        self._settle_memory(
            {
                lane: {start.key: start for start in known}
                for lane, known in self._process.starts.items()
            }
        )
        return self._process

    def _settle_memory(self, memory: Memory) -> None:
        if not self._memory.done():
            self._memory.set_result(memory)
