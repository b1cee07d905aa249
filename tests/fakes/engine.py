"""An engine's state without a server, and what it told of its starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Final

from typing_extensions import override

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSink
from proxy.upstream.counters import Counters
from proxy.upstream.engine import Engine

UNTOUCHED: Final = Counters(1.5)
_NO_STARTS: Final[Mapping[str, EngineStartRecord]] = MappingProxyType({})


@dataclass
class Told(StartSink):
    """What an engine told of its starts: every record, in order."""

    records: list[EngineStartRecord] = field(default_factory=list)

    @override
    def start(self, record: EngineStartRecord) -> None:
        self.records.append(record)

    @property
    def latest(self) -> dict[str, EngineStartRecord]:
        """The last record of every start, by key."""
        return {record.key: record for record in self.records}

    @property
    def answers(self) -> list[FirstAnswer]:
        """The first answers of all starts that were judged or are over."""
        return [
            record.first_answer
            for record in self.latest.values()
            if record.first_answer is not FirstAnswer.UNKNOWN or record.over_at is not None
        ]


def unseen_engine(
    remembered: Mapping[str, EngineStartRecord] = _NO_STARTS,
) -> tuple[Engine, Told]:
    """An engine that nobody has looked at; each look at its clock takes a second from 1000 on."""
    told, instants = Told(), count(1000)
    return Engine("main", told, lambda: float(next(instants)), remembered), told


def seen_engine(counters: Counters | None = UNTOUCHED) -> tuple[Engine, Told]:
    """An engine that was looked at once."""
    engine, told = unseen_engine()
    engine.saw_page(counters)
    return engine, told


def certify(engine: Engine) -> None:
    engine.settle(engine.dispatch(), valid=True)


def record_of(engine: Engine) -> EngineStartRecord:
    assert engine.record is not None
    return engine.record
