"""What the proxy and the process that writes its ledger say to each other, and how."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord


class Opening(msgspec.Struct, frozen=True):
    """The first message: which ledger, who writes, and the lanes whose newest starts are told."""

    url: str
    writer: str
    lanes: tuple[str, ...]
    remembered: int


class Batch(msgspec.Struct, frozen=True):
    """Records to be written together."""

    requests: Sequence[RequestRecord]
    starts: Sequence[EngineStartRecord]


class Answer(msgspec.Struct, frozen=True):
    """The answer to every message. `trouble`: why it could not be done; None: it is done.

    An opened ledger tells its newest starts by lane, or why they cannot be read.
    """

    trouble: Trouble | None = None
    detail: str = ""
    starts: dict[str, list[EngineStartRecord]] = {}
    unreadable: str = ""


OPENING: Final = msgspec.msgpack.Decoder(Opening)
BATCH: Final = msgspec.msgpack.Decoder(Batch)
ANSWER: Final = msgspec.msgpack.Decoder(Answer)


def encoded(message: Opening | Batch | Answer) -> bytes:
    """One message in bytes. Half a surrogate pair, which is no text, becomes a question mark."""
    try:
        return msgspec.msgpack.encode(message)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_with_sound_texts(msgspec.to_builtins(message)))


def told_trouble(trouble: LedgerTrouble) -> Answer:
    return Answer(trouble.kind, trouble.detail)


def _with_sound_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_with_sound_texts(key): _with_sound_texts(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_with_sound_texts(held) for held in value]
    return value
