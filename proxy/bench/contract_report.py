"""What came of a contract set: a table for people, one JSON document for programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from proxy.bench.contract_cases import CaseKind
from proxy.bench.contract_run import Measured, Trial
from proxy.bench.contract_tally import Share, Tally, tally_after, tally_before
from proxy.ledger.columns import table

_NAMES: Final = {CaseKind.SHORT_TEXT: "short texts", CaseKind.TEASER: "teasers"}
_NOT_MEASURED: Final = "-"
_Row: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ContractReport:
    """A measurement and what it was made of. `ended` says why it ended early, if it did."""

    model: str
    policy: str
    cases: int
    runs: int
    trials: Sequence[Trial]
    ended: str = ""

    def lines(self) -> Iterator[str]:
        """The table; of an unfinished measurement it says how far that came."""
        planned = self.cases * self.runs
        yield f"model {self.model}, policy {self.policy}: {self.cases} cases, {self.runs} runs"
        if len(self.trials) < planned:
            yield f"Not complete: {len(self.trials)} of {planned} trials. {self.ended}".rstrip()
        if not self.trials:
            return
        before, after = tally_before(self.trials), tally_after(self.trials)
        if before is None:
            yield "The server is itself a gate: nothing was measured before it."
        yield ""
        headings = ("", "before the gate", "after the gate")
        yield from table(headings, list(_Sides(before, after).rows()))
        yield ""
        yield "In brackets 95 % Wilson intervals. Runs of one case are alike: true ones are wider."

    def json(self) -> str:
        """Counts, and what came of each trial; no text of any answer."""
        before = tally_before(self.trials)
        document = {
            "model": self.model,
            "policy": self.policy,
            "cases": self.cases,
            "runs": self.runs,
            "complete": len(self.trials) == self.cases * self.runs,
            "ended": self.ended or None,
            "before": None if before is None else msgspec.to_builtins(before),
            "after": msgspec.to_builtins(tally_after(self.trials)),
            "trials": [_trial_document(trial) for trial in self.trials],
        }
        return msgspec.json.format(msgspec.json.encode(document)).decode()


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides of the table; `before` is None where nothing was measured there."""

    before: Tally | None
    after: Tally

    def rows(self) -> Iterator[_Row]:
        for kind, name in _NAMES.items():
            yield self._share(f"usable {name}", partial(_usable, kind))
        yield self._share("usable, and borne by the source", lambda side: side.borne)
        for kind, name in _NAMES.items():
            yield f"kinds of failure, {name}", "", ""
            yield from self._counts(partial(_faults, kind))
        yield self._share("evidence: answers with typed findings", lambda side: side.with_typed)
        yield from self._counts(lambda side: side.typed)
        yield self._share("evidence: answers with hints", lambda side: side.with_hints)
        yield from self._counts(lambda side: side.hints)
        yield self._share("abstained, thin source", lambda side: side.abstained_on_thin)
        yield self._share("abstained, sufficient source", lambda side: side.abstained_on_rich)
        yield "delivered and flagged", _NOT_MEASURED, str(self.after.flagged)
        yield "kept back (parked, rejected)", _NOT_MEASURED, str(self.after.kept_back)
        yield self._row("calls of the server", lambda side: str(side.calls))

    def _row(self, name: str, of: Callable[[Tally], str]) -> _Row:
        before = _NOT_MEASURED if self.before is None else of(self.before)
        return name, before, of(self.after)

    def _share(self, name: str, of: Callable[[Tally], Share]) -> _Row:
        return self._row(name, lambda side: _told(of(side)))

    def _counts(self, of: Callable[[Tally], Mapping[str, int]]) -> Iterator[_Row]:
        """A line for each word that either side has, or one that says so where none has."""
        sides = [of(side) for side in (self.before, self.after) if side is not None]
        words = list(dict.fromkeys(word for side in sides for word in side))
        for word in words:
            yield self._row(f"  {word}", partial(_count, of, word))
        if not words:
            yield "  none", "", ""


def _usable(kind: CaseKind, side: Tally) -> Share:
    return side.usable[kind]


def _faults(kind: CaseKind, side: Tally) -> Mapping[str, int]:
    return side.faults[kind]


def _count(of: Callable[[Tally], Mapping[str, int]], word: str, side: Tally) -> str:
    return str(of(side).get(word, 0))


def _told(share: Share) -> str:
    told = f"{share.hits}/{share.of}"
    if share.interval is None:
        return told
    low, high = (round(100 * bound) for bound in share.interval)
    return f"{told} ({low}–{high} %)"  # noqa: RUF001 - a dash between numbers


def _trial_document(trial: Trial) -> dict[str, Any]:
    return {
        "case": trial.case.name,
        "kind": trial.case.kind,
        "thin": trial.case.is_thin,
        "run": trial.run,
        "before": None if trial.before is None else _measured_document(trial.before),
        "after": _measured_document(trial.after),
    }


def _measured_document(measured: Measured) -> dict[str, Any]:
    reading = measured.reading
    return {
        "usable": reading.is_usable,
        "faults": reading.faults,
        "typed": reading.typed,
        "hints": reading.hints,
        "abstains": reading.abstains,
        "outcome": measured.outcome or None,
        "attempts": measured.attempts,
    }
