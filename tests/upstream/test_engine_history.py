"""Any history of an engine: what holds whatever comes in whatever order."""

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from prometheus_client import CollectorRegistry
from typing_extensions import override

from proxy.telemetry.engine_metrics import STARTS
from proxy.telemetry.engine_start import (
    AskedBy,
    EngineStartRecord,
    FirstAnswer,
    StartSource,
)
from proxy.telemetry.metrics import Metrics
from proxy.telemetry.start_sinks import StartSinks
from proxy.upstream.counters import Counters
from proxy.upstream.engine import Engine, EngineState
from proxy.upstream.sample import Dispatch
from tests.fakes.engine import Told

AWAY = (EngineState.UNREACHABLE, EngineState.LOADING)
REMEMBERED = (
    EngineStartRecord(
        *("main", "1.0", StartSource.METRICS, 5.0, 1.0),
        first_answer=FirstAnswer.VALID,
        certified_at=6.0,
    ),
    EngineStartRecord("main", "2.0", StartSource.METRICS, 7.0, 2.0, untouched=True),
    EngineStartRecord("main", "3.0", StartSource.METRICS, 8.0, 3.0, over_at=9.0),
)
STARTED_AT = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


@dataclass
class Heard:
    """What was last seen of the upstream: the states that say so, and when it was away last.

    `discarded`: it sleeps and has lost its weights, which counts as away too.
    """

    states: tuple[EngineState, ...] = (EngineState.UNREACHABLE,)
    away_since: int = 0
    asleep: bool = False
    discarded: bool = False


@dataclass(eq=False)
class Sent:
    dispatch: Dispatch
    at: int
    valid_at: int | None = None
    gave_back: bool = False


@dataclass
class Begun:
    """A start as it began: at which step, and from which on an answer may be its own."""

    at: int
    answers_from: int
    certified: bool


class History(RuleBasedStateMachine):
    sent = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.told = Told()
        self.metrics = Metrics(CollectorRegistry())
        self.engine = Engine(
            "main",
            StartSinks((self.metrics, self.told)),
            lambda: 1000 + self.step + len(self.told.records) / 100,
            {record.key: record for record in REMEMBERED},
        )
        self.heard = Heard()
        self.requests: list[Sent] = []
        self.number = self.engine.start.number
        self.starts: list[Begun] = []

    def _happen(self) -> None:
        self.step += 1

    def _away(self, state: EngineState) -> None:
        if self.heard.states[0] not in AWAY or self.heard.asleep:
            self.heard.away_since = self.step
        self.heard.states = (state,)
        self.heard.asleep = False

    @rule(
        started_at=STARTED_AT,
        work=st.sampled_from([0.0, 1.0, 7.0]),
        level=st.sampled_from([None, None, None, 1, 2]),
    )
    def look(self, started_at: float, work: float, level: int | None) -> None:
        self._happen()
        asleep = level is not None
        self.engine.saw_page(Counters(started_at, work, asleep=asleep, discarded=level == 2))
        if self._check_begun():
            self.heard.discarded = False
        if level == 2 and not self.heard.discarded:
            self.heard.away_since = self.step
        sleeps = asleep and self.engine.source is StartSource.METRICS
        self.heard.states = AWAY[1:] if sleeps else (EngineState.COLD, EngineState.CERTIFIED)
        self.heard.asleep = sleeps
        self.heard.discarded = sleeps and (self.heard.discarded or level == 2)

    @rule()
    def look_without_counters(self) -> None:
        self._happen()
        self.engine.saw_page(None)
        self._check_begun()
        self.heard.states = (EngineState.COLD, EngineState.CERTIFIED)
        self.heard.asleep = self.heard.discarded = False
        assert self.engine.source is StartSource.FALLBACK

    @rule()
    def look_in_vain(self) -> None:
        self._happen()
        self.engine.saw_no_page()
        self._check_begun()

    @rule()
    def refused(self) -> None:
        self._happen()
        self._away(EngineState.UNREACHABLE)
        self.engine.saw_unreachable()

    @rule()
    def loading(self) -> None:
        self._happen()
        self._away(EngineState.LOADING)
        self.engine.saw_loading()

    @rule()
    def call_answered(self) -> None:
        self._happen()
        self.engine.saw_alive()
        self._check_begun()
        if not self.heard.asleep:
            self.heard.states = (EngineState.COLD, EngineState.CERTIFIED, EngineState.LOADING)

    @rule(target=sent)
    def send(self) -> Sent:
        return self._send(None)

    @rule(target=sent, before=sent)
    def send_again(self, before: Sent) -> Sent:
        return self._send(before.dispatch)

    def _send(self, after: Dispatch | None) -> Sent:
        self._happen()
        by = AskedBy.REQUEST if self.step % 2 else AskedBy.PROBE
        sent = Sent(self.engine.dispatch(by=by, step="same", after=after), self.step)
        assert sent.dispatch.cold is self.engine.is_cold
        assert not (sent.dispatch.is_sample and self._others_hold_the_sample(sent.dispatch))
        self.requests.append(sent)
        return sent

    def _others_hold_the_sample(self, dispatch: Dispatch) -> bool:
        others = (sent for sent in self.requests if sent.dispatch.outages == dispatch.outages)
        return any(sent.dispatch.is_sample and not sent.gave_back for sent in others)

    @rule(sent=sent, valid=st.sampled_from([True, False, None]))
    def settle(self, sent: Sent, valid: bool | None) -> None:
        self._happen()
        fault = "not_json" if valid is False else None
        if valid and sent.valid_at is None:
            sent.valid_at = self.step
        sent.gave_back = sent.gave_back or valid is None
        self.engine.settle(sent.dispatch, valid=valid, fault=fault)

    def _check_begun(self) -> bool:
        """Note a start that has begun; what was sent since the outage before it may be its own."""
        number, record = self.engine.start.number, self.engine.record
        if record is None or (number == self.number and self.starts):
            return False
        was_away = not self.starts or self.heard.away_since >= self.starts[-1].at
        certified = record.certified_at is not None and record.certified_at < 1000
        answers_from = self.heard.away_since if was_away else self.step
        self.starts.append(Begun(self.step, answers_from, certified))
        self.number = number
        return True

    @invariant()
    def numbers_only_grow_and_each_start_is_told(self) -> None:
        number = self.engine.start.number
        assert number >= self.number
        assert len(self.told.latest) == len(self.starts)
        if self.starts:
            assert number == len(self.starts)

    @invariant()
    def every_start_but_the_present_is_over(self) -> None:
        told = list(self.told.latest.values())
        assert all(record.over_at is not None for record in told[:-1])
        assert self.engine.record == (told[-1] if told else None)
        assert not told or told[-1].over_at is None

    @override
    def teardown(self) -> None:
        """Every start was counted once, but those whose answer an earlier run has counted."""
        families = self.metrics.registry.collect()
        samples = [sample for family in families for sample in family.samples]
        counts = [each.value for each in samples if each.name == STARTS.full_name]
        known = {record.key for record in REMEMBERED if record.certified_at}
        ended = [
            record
            for record in self.told.latest.values()
            if record.key not in known
            and (record.over_at or record.first_answer is not FirstAnswer.UNKNOWN)
        ]
        assert sum(counts) == len(ended)

    @invariant()
    def first_answer_never_changes(self) -> None:
        first: dict[str, EngineStartRecord] = {}
        for record in self.told.records:
            if record.first_answer is not FirstAnswer.UNKNOWN:
                before = first.setdefault(record.key, record)
                assert record.first_answer is before.first_answer
                assert (record.first_by, record.first_fault) == (
                    before.first_by,
                    before.first_fault,
                )

    @invariant()
    def certified_only_after_a_valid_answer_of_this_start(self) -> None:
        if self.engine.is_cold:
            return
        start = self.starts[-1]
        assert start.certified or any(
            sent.valid_at is not None and sent.at >= start.answers_from for sent in self.requests
        )

    @invariant()
    def state_says_what_was_last_seen(self) -> None:
        assert self.engine.state in self.heard.states


TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, report_multiple_bugs=False
)
