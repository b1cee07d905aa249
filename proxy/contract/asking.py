"""Asks gates whether they guard a request: here where that is quick, else in another process."""

from collections import OrderedDict
from typing import Final

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.policy import GateSpec, Rule
from proxy.errors import InvalidRequest, RequestError
from proxy.gates.base import Left
from proxy.wire.request import Request

# A checked schema of 8 KiB compiles in about 2 ms.
_PROMISE_BYTES: Final = 8192
_HISTORY_BYTES: Final = 262_144
_SOUND_KEPT: Final = 256

Promise = tuple[bytes, ...]


class SoundPromises:
    """What requests promised and was found sound, with the gates that found it so.

    Checking is the costly part, so it is done in the process when a promise is first seen; short
    ones that were found sound are then held here. Without a `process` all is done here.
    """

    def __init__(self, process: JudgeProcess | None) -> None:
        self._process = process
        self._sound: OrderedDict[Promise, set[GateSpec]] = OrderedDict()

    def asking(self, request: Request) -> "Asking":
        promise = promise_of(request)
        if not promise or self._process is None:
            return Asking(request, self._process, is_long=False, sound=None)
        return Asking(
            request, self._process, is_long=promises_much(request), sound=self._of(promise)
        )

    def _of(self, promise: Promise) -> set[GateSpec]:
        sound = self._sound.setdefault(promise, set())
        self._sound.move_to_end(promise)
        if len(self._sound) > _SOUND_KEPT:
            self._sound.popitem(last=False)
        return sound


class Asking:
    """One request before the gates of its policy. `sound` is None where it promises nothing."""

    __slots__ = ("_is_long", "_process", "_request", "_sound")

    def __init__(
        self,
        request: Request,
        process: JudgeProcess | None,
        *,
        is_long: bool,
        sound: set[GateSpec] | None,
    ) -> None:
        self._request = request
        self._process = process
        self._is_long = is_long
        self._sound = sound

    async def applies(self, rule: Rule) -> bool:
        """Whether the gate guards this request. Raises `InvalidRequest` as the gate does.

        Raises `QueueFull` where too many wait to be checked. A gate that breaks here is asked to
        judge: its policy says what an error means.
        """
        try:
            if self._process is None or rule.spec is None:
                return rule.gate.applies(self._request)
            return await self._asked(rule, rule.spec, self._process)
        except RequestError:
            raise
        except JudgeFailed as error:
            raise InvalidRequest(
                "What the request promises (its schemas or tools) takes too long to check.",
                code="promise_too_costly",
            ) from error
        except Exception:  # noqa: BLE001 - a gate may be anybody's
            return True

    async def _asked(self, rule: Rule, spec: GateSpec, process: JudgeProcess) -> bool:
        sound = self._sound
        if sound is None or not rule.reads_promise or (spec in sound and not self._is_long):
            try:
                return rule.gate.applies(self._request)
            except Left:
                return await process.applies(spec, self._request)
        applies = await process.applies(spec, self._request)
        if not self._is_long:
            sound.add(spec)
        return applies


def promise_of(request: Request) -> Promise:
    """The members that promise something about the reply; none for a plain chat."""
    members = request.response_format, request.structured_outputs, request.tools
    return (*members, request.tool_choice) if any(members) else ()


def promises_much(request: Request) -> bool:
    """Whether compiling its schemas, or reading its calls, may take some milliseconds."""
    if sum(map(len, promise_of(request))) > _PROMISE_BYTES:
        return True
    return bool(request.tools) and len(request.messages) > _HISTORY_BYTES
