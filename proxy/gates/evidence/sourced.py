"""What gates that compare a reply with sources have in common."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from typing_extensions import override

from proxy.gates.base import Gate, Left, Result, Verdict, Watch
from proxy.gates.evidence.sources import SourceOption, may_have_sources, sources_of
from proxy.wire.reply import Reply
from proxy.wire.request import Request


class SourcedGate(Gate):
    """A gate for requests that bring sources. A beginning of a reply says nothing to it."""

    def __init__(self, name: str, sources: Sequence[SourceOption]) -> None:
        """Raises `ValueError` where there are no sources to look at."""
        if not sources:
            raise ValueError(
                "it has no `sources`, and the policy has no gate `evidence` whose they could be"
            )
        self._name = name
        self._sources = tuple(sources)

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    def applies(self, request: Request) -> bool:
        if not may_have_sources(request, self._sources):
            return False
        return bool(sources_of(request, self._sources).found)

    @override
    @abstractmethod
    def judge(self, reply: Reply, request: Request) -> Verdict: ...

    @override
    def watch(self, request: Request) -> Watch | None:
        return None


# So much is looked through in a millisecond.
_MOST_HERE: Final = 65_536


class SourcedElsewhere(SourcedGate):
    """What the serving process has of such a gate: it leaves every judgement to another process.

    Comparing takes two milliseconds for a short source and far more for a long one, and the words,
    stems and patterns for it take memory.
    """

    @override
    def applies(self, request: Request) -> bool:
        """Raises `Left` for long requests that may have sources."""
        if not may_have_sources(request, self._sources):
            return False
        if len(request.messages) > _MOST_HERE:
            raise Left
        return super().applies(request)

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        reason = "This is for another process to judge."
        return Verdict(self.name, Result.ERROR, reason=reason, gave_up=True)
