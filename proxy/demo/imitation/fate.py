"""Which fault befalls a request: drawn once, and remembered for the attempts that follow it."""

import hashlib
import random
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from proxy.demo.imitation.asked import Asked
from proxy.demo.imitation.faults import COLD, STUBBORN, FaultRates, MadeFault, possible_faults

_REMEMBERED: Final = 512


@dataclass(slots=True)
class Fate:
    """Draws for one engine start. Requests with the same first question are the same request.

    After a faulty answer the same request is answered well, unless the fault is stubborn: then it
    fails again and again. So an identical retry helps, as it did in the article. A start is cold
    until a strict-JSON answer was good.
    """

    rates: FaultRates
    chance: random.Random
    _cold: bool = True
    _drawn: "OrderedDict[bytes, MadeFault | None]" = field(default_factory=OrderedDict)

    def fault(self, asked: Asked) -> MadeFault | None:
        """The fault of the next answer to this request."""
        request = hashlib.sha256(asked.question.encode("utf-8", "surrogatepass")).digest()
        if request in self._drawn:
            fault = self._drawn[request]
            if fault is None:
                del self._drawn[request]
                self._cold = self._cold and not _is_strict(asked)
            return fault
        if self._is_cold_answer(asked):
            self._remember(request, None)
            return MadeFault.DOUBLED_BRACE
        fault = self._draw(asked)
        if fault is not None:
            stubborn = self.chance.random() < self.rates.of(STUBBORN)
            self._remember(request, fault if stubborn else None)
        return fault

    def _is_cold_answer(self, asked: Asked) -> bool:
        """Whether this is a strict-JSON answer of a cold start, and bad."""
        if not self._cold or not _is_strict(asked):
            return False
        self._cold = self.chance.random() < self.rates.of(COLD)
        return self._cold

    def _draw(self, asked: Asked) -> MadeFault | None:
        at = self.chance.random()
        for fault in possible_faults(asked):
            at -= self.rates.of(fault)
            if at < 0:
                return fault
        return None

    def _remember(self, request: bytes, next_fault: MadeFault | None) -> None:
        self._drawn[request] = next_fault
        if len(self._drawn) > _REMEMBERED:
            self._drawn.popitem(last=False)


def _is_strict(asked: Asked) -> bool:
    return asked.called is None and asked.schema is not None
