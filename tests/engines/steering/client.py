"""Tells a running vLLM what to write. Goes to the engine itself: no proxy relays such a path."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec

END_OF_THOUGHT: Final = "</think>"
# For an engine that is to be steered.
ARGUMENTS: Final = ("--worker-extension-cls", "steer.Steer", "--max-num-seqs", "1")
VARIABLES: Final = {
    "PYTHONPATH": str(Path(__file__).parent),
    "VLLM_SERVER_DEV_MODE": "1",  # the engine serves /collective_rpc only then
}


class Landing(StrEnum):
    """How a token came out: as an accepted draft, as the one after that, or without a draft."""

    DRAFT = "draft"
    BONUS = "bonus"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Script:
    """What the next request with (or without) thinking is answered.

    `land`: how `</think>` is to come out; None: every draft is right, wherever it falls.
    Raises `ValueError` where nothing could land: inside the engine that would be its end.
    """

    thinking: bool
    text: str
    land: Landing | None = None

    def __post_init__(self) -> None:
        if self.land is not None and END_OF_THOUGHT not in self.text:
            raise ValueError(f"{END_OF_THOUGHT} is to land as {self.land}, but is not in the text")


class Watched(msgspec.Struct, frozen=True):
    """What the engine did with one request; `landing` is None where no thought ended."""

    thinking: bool
    steered: bool
    landing: Landing | None


class SteeringFailed(Exception):
    """The engine does not take the call: not a steered one, or dead. The message has its answer."""


@dataclass(frozen=True, slots=True)
class Steering:
    """The steering of one engine, by its address."""

    url: str

    async def follow(self, scripts: Sequence[Script]) -> None:
        """The next requests take these, each the first that fits it; whatever was left is dropped.

        Raises `SteeringFailed`.
        """
        await self._call("steer", msgspec.json.encode([asdict(each) for each in scripts]).decode())

    async def watched(self) -> list[Watched]:
        """The requests since the last `follow`, in order. Raises `SteeringFailed`."""
        return msgspec.convert(await self._call("watched"), list[Watched])

    async def _call(self, method: str, *arguments: str) -> Any:
        body = {"method": method, "args": arguments}
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{self.url}/collective_rpc", json=body) as response,
        ):
            told = await response.text()
            if response.status != 200:
                raise SteeringFailed(f"{method}: {response.status} {told[:500]}")
            return msgspec.json.decode(told)["results"][0]
