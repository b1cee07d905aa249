"""What the writing process does: it opens the ledger and writes the batches that it is told.

It ends with the proxy: at the end of what it is told, never by a signal, since what waits in the
proxy is still to be written when both are told to stop.
"""

import os
import signal
from multiprocessing.connection import Connection
from typing import Final

import msgspec

from proxy.ledger.address import read_address
from proxy.ledger.messages import BATCH, OPENING, Answer, Opening, encoded, told_trouble
from proxy.ledger.store import Store, open_store
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.upgrade_process import upgrade_elsewhere

_NICENESS: Final = 5


def serve(told: int) -> None:
    """Answer the messages that come by the descriptor `told`, until its end."""
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sent, signal.SIG_IGN)
    os.nice(_NICENESS)
    pipe: Connection = Connection(told)
    try:
        _serve(pipe)
    except (EOFError, OSError):
        return


def _serve(pipe: Connection) -> None:
    opening = OPENING.decode(pipe.recv_bytes())
    address = read_address(opening.url)
    try:
        store = open_store(address, opening.writer, upgrade_elsewhere)
    except LedgerTrouble as trouble:
        pipe.send_bytes(encoded(told_trouble(trouble)))
        return
    try:
        pipe.send_bytes(encoded(_opened(store, opening)))
        while True:
            pipe.send_bytes(encoded(_written(store, pipe.recv_bytes())))
    finally:
        store.close()


def _opened(store: Store, opening: Opening) -> Answer:
    try:
        starts = {lane: store.newest_starts(lane, opening.remembered) for lane in opening.lanes}
    except LedgerTrouble as trouble:
        if trouble.kind is Trouble.LOCKED:
            return told_trouble(trouble)
        return Answer(unreadable=str(trouble))
    return Answer(starts=starts)


def _written(store: Store, message: bytes) -> Answer:
    try:
        batch = BATCH.decode(message)
        store.write((*batch.starts, *batch.requests))
    except msgspec.MsgspecError as error:
        return Answer(Trouble.REFUSED, str(error))
    except LedgerTrouble as trouble:
        return told_trouble(trouble)
    return Answer()
