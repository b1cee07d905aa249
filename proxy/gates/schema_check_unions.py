"""Checks that combine others: `allOf`, `anyOf`, `oneOf`, `not`, `if`.

Most unions tell their branches apart by kind, so each kind of value goes to the few branches that
may take it. Where several may, values are asked one by one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from proxy.gates.schema_check import KINDS, Check, Fits, Steps, by_kind


def all_of(checks: Sequence[Check]) -> Check:
    kinds = KINDS.intersection(*(check.kinds for check in checks))
    return Check(partial(_all_of, [check.fits for check in checks]), kinds)


def _all_of(branches: list[Fits], values: list[Any], steps: Steps) -> bool:
    return all(fit(values, steps) for fit in branches)


def any_of(checks: Sequence[Check]) -> Check:
    return _union(checks, _any_of)


def one_of(checks: Sequence[Check]) -> Check:
    return _union(checks, _one_of)


def _union(
    checks: Sequence[Check], several: Callable[[list[Fits], list[Any], Steps], bool]
) -> Check:
    """`several` says what holds for a kind that more than one branch may take."""
    takers = {kind: [check for check in checks if kind in check.kinds] for kind in KINDS}
    taken = frozenset(kind for kind, branches in takers.items() if branches)
    if all(len(takers[kind]) == 1 and takers[kind][0].is_by_kind for kind in taken):
        return by_kind(taken)
    fits: dict[type, Fits] = {
        kind: takers[kind][0].fits
        if len(takers[kind]) == 1
        else partial(several, [check.fits for check in takers[kind]])
        for kind in taken
    }
    return Check(partial(_each_kind, fits), taken)


def _each_kind(fits: dict[type, Fits], values: list[Any], steps: Steps) -> bool:
    steps.spend(len(values))
    kinds = set(map(type, values))
    if not kinds <= fits.keys():
        return False
    if len(kinds) == 1:
        return fits[kinds.pop()](values, steps)
    return all(
        fits[kind]([value for value in values if type(value) is kind], steps) for kind in kinds
    )


def _any_of(branches: list[Fits], values: list[Any], steps: Steps) -> bool:
    left = values
    for fit in branches:
        if fit(left, steps):
            return True
        if len(left) > 1:
            left = [value for value in left if not fit([value], steps)]
    return False


def _one_of(branches: list[Fits], values: list[Any], steps: Steps) -> bool:
    return all(sum(fit([value], steps) for fit in branches) == 1 for value in values)


def none_of(check: Check) -> Check:
    """`not`."""
    return Check(partial(_none_of, check.fits))


def _none_of(fit: Fits, values: list[Any], steps: Steps) -> bool:
    return not any(fit([value], steps) for value in values)


def either(condition: Check, then: Check, otherwise: Check) -> Check:
    """`if`, `then` and `else`."""
    return Check(partial(_either, condition.fits, then.fits, otherwise.fits))


def _either(holds: Fits, fits_then: Fits, fits_else: Fits, values: list[Any], steps: Steps) -> bool:
    holding: list[Any] = []
    others: list[Any] = []
    for value in values:
        (holding if holds([value], steps) else others).append(value)
    return fits_then(holding, steps) and fits_else(others, steps)
