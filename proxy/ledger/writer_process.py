"""The ledger as its writer uses it: opened and written by a process of its own.

Rows and statements take 50 µs and more of a request: in the serving process each of them would be
time of the event loop, which shares the interpreter.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Final

from proxy.ledger import writing_child
from proxy.ledger.address import LedgerAddress
from proxy.ledger.messages import ANSWER, Answer, Batch, Opening, encoded
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writer import Record
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

_REMEMBERED: Final = 50


class WriterProcess:
    """One process with the ledger open. Blocking, one thread's. Raises `LedgerTrouble` alone.

    `starts` are the newest engine starts of each lane as they were when it was opened;
    `unreadable` says why there are none.
    """

    def __init__(self, address: LedgerAddress, writer: str, lanes: Collection[str]) -> None:
        self._address = address
        ours, theirs = socket.socketpair()
        serve = f"from {writing_child.__name__} import serve; serve({theirs.fileno()})"
        self._process = subprocess.Popen(  # noqa: S603 - our own program with our own number
            (sys.executable, "-P", "-c", serve),
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,  # Ctrl-C is for us; it ends with the pipe
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        theirs.close()
        self._pipe: Connection = Connection(ours.detach())
        try:
            opened = self._ask(Opening(address.url, writer, tuple(lanes), _REMEMBERED))
        except BaseException:
            self.close()
            raise
        self.starts: Mapping[str, Sequence[EngineStartRecord]] = opened.starts
        self.unreadable = opened.unreadable

    @property
    def pid(self) -> int:
        return self._process.pid

    def write(self, batch: Sequence[Record]) -> None:
        """Write all records or none."""
        requests = [record for record in batch if isinstance(record, RequestRecord)]
        starts = [record for record in batch if isinstance(record, EngineStartRecord)]
        self._ask(Batch(requests, starts))

    def close(self) -> None:
        """Let the process end by itself: it closes the database first."""
        self._pipe.close()
        self._process.wait()

    def kill(self) -> None:
        """End a process that hangs; any thread may. A thread that asks hears of it."""
        self._process.kill()

    def _ask(self, message: Opening | Batch) -> Answer:
        try:
            self._pipe.send_bytes(encoded(message))
            answer = ANSWER.decode(self._pipe.recv_bytes())
        except (EOFError, OSError) as error:
            detail = "the process that writes it has ended"
            raise LedgerTrouble(Trouble.BROKEN, self._address.shown, detail) from error
        if answer.trouble is not None:
            raise LedgerTrouble(answer.trouble, self._address.shown, answer.detail)
        return answer
