"""Counts what came of a contract set, before the gate and behind it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proxy.bench.contract_cases import CaseKind
from proxy.bench.contract_run import Measured, Trial
from proxy.ledger.interval import wilson_interval
from proxy.telemetry.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % Wilson interval; None where there are none at all."""

    hits: int
    of: int
    interval: tuple[float, float] | None

    @classmethod
    def of_flags(cls, flags: Iterable[bool]) -> "Share":
        counted = list(flags)
        hits = sum(counted)
        return cls(hits, len(counted), wilson_interval(hits, len(counted)))


@dataclass(frozen=True, slots=True)
class Tally:
    """One side of the table. `faults` count answers, by kind of text and fault.

    `typed` and `hints` count evidence findings by kind; one answer may have several. `calls`: of
    the server's chat endpoint.
    """

    usable: Mapping[CaseKind, Share]
    borne: Share
    faults: Mapping[CaseKind, Mapping[str, int]]
    with_typed: Share
    typed: Mapping[str, int]
    with_hints: Share
    hints: Mapping[str, int]
    abstained_on_thin: Share
    abstained_on_rich: Share
    flagged: int
    kept_back: int
    calls: int


def tally_before(trials: Sequence[Trial]) -> Tally | None:
    """The bare server's side; None where the server is itself a gate."""
    seen = [(trial, trial.before) for trial in trials if trial.before is not None]
    return _tally(seen) if seen else None


def tally_after(trials: Sequence[Trial]) -> Tally:
    return _tally([(trial, trial.after) for trial in trials])


def _tally(seen: Sequence[tuple[Trial, Measured]]) -> Tally:
    readings = [(trial.case, measured.reading) for trial, measured in seen]
    outcomes = Counter(measured.outcome for _, measured in seen)
    return Tally(
        usable={
            kind: Share.of_flags(one.is_usable for case, one in readings if case.kind is kind)
            for kind in CaseKind
        },
        borne=Share.of_flags(one.is_borne for _, one in readings),
        faults={
            kind: _counted(one.faults for case, one in readings if case.kind is kind)
            for kind in CaseKind
        },
        with_typed=Share.of_flags(bool(one.typed) for _, one in readings),
        typed=_counted(one.typed for _, one in readings),
        with_hints=Share.of_flags(bool(one.hints) for _, one in readings),
        hints=_counted(one.hints for _, one in readings),
        abstained_on_thin=Share.of_flags(one.abstains for case, one in readings if case.is_thin),
        abstained_on_rich=Share.of_flags(
            one.abstains for case, one in readings if not case.is_thin
        ),
        flagged=outcomes[Outcome.FLAGGED],
        kept_back=outcomes[Outcome.PARKED] + outcomes[Outcome.REJECTED],
        calls=sum(measured.attempts for _, measured in seen),
    )


def _counted(words: Iterable[Iterable[str]]) -> Mapping[str, int]:
    """The commonest first."""
    return dict(Counter(word for some in words for word in some).most_common())
