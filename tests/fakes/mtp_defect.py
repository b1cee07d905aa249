"""Recorded replies of a real vLLM under MTP, and how its streams would have been cut.

The README beside the recordings tells where they come from and what each member means.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from proxy.errors import Fault
from tests.fakes.upstream import Scripted, chunk

RECORDED: Final = Path(__file__).parents[1] / "recorded"
_TOKEN: Final = re.compile(r"\s*(?:\w+|[^\w\s]+)|\s+$")


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One exchange. `repeated`: what stands before the document in a bad answer."""

    start: int
    text: str
    style: str
    mtp: int
    accept: str | None
    thinking: bool
    think_end: str | None
    blank_line: bool | None
    whitespace: str
    steered: bool
    first_after_load: bool
    valid: bool
    request: dict[str, Any]
    reply: msgspec.Raw
    repeated: str = ""
    fault: Fault | None = None

    @property
    def raw(self) -> bytes:
        return bytes(self.reply)

    @property
    def asked(self) -> dict[str, Any]:
        return self.request | {"response_format": _formats()[self.text]}

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = _formats()[self.text]["json_schema"]["schema"]
        return schema

    @property
    def content(self) -> str:
        return str(self._message()["content"])

    @property
    def reasoning(self) -> str:
        return str(self._message().get("reasoning") or "")

    @property
    def family(self) -> str:
        """What the beginning of the answer looks like."""
        twice = {"": "sound", "{": "brace-twice", '{"': "brace-and-quote-twice"}
        place = "-after-a-blank-line" if self.content != self.content.lstrip() else ""
        return twice.get(self.repeated, "key-twice") + place

    def _message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.raw)["choices"][0]["message"]
        return message


@cache
def recordings() -> dict[str, Recording]:
    """All exchanges by a name that tells what they are."""
    lines = (RECORDED / "mtp_defect.jsonl").read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=Recording) for line in lines]
    return {_name(number, one): one for number, one in enumerate(found, 1)}


def bad() -> dict[str, Recording]:
    return {name: one for name, one in recordings().items() if not one.valid}


def good() -> dict[str, Recording]:
    return {name: one for name, one in recordings().items() if one.valid}


def one_bad_of_each_family() -> dict[str, Recording]:
    return {one.family: one for one in bad().values()}


def good_like(other: Recording) -> Recording:
    """A good answer of the same engine to a request with the same schema."""
    return next(one for one in good().values() if one.text == other.text)


@cache
def _formats() -> dict[str, dict[str, Any]]:
    formats: dict[str, dict[str, Any]] = json.loads(
        (RECORDED / "mtp_defect_formats.json").read_bytes()
    )
    return formats


def _name(number: int, one: Recording) -> str:
    end = f"think-end-as-{one.think_end}" if one.think_end else "think-end-unknown"
    thinking = end if one.thinking else "thinking-off"
    return f"{number:03}-{one.family}-mtp{one.mtp}-accept-{one.accept}-{one.text}-{thinking}"


def as_mtp_sends(one: Recording) -> list[str]:
    """What came with `</think>` in one chunk, then two tokens in each."""
    first = one.content[: len(one.content) - len(one.content.lstrip())] + one.repeated
    tokens = _TOKEN.findall(one.content[len(first) :])
    pairs = ["".join(tokens[at : at + 2]) for at in range(0, len(tokens), 2)]
    return [first, *pairs] if first else pairs


def in_characters(one: Recording) -> list[str]:
    return list(one.content)


def in_one_chunk(one: Recording) -> list[str]:
    return [one.content]


CUTS: Final[dict[str, Callable[[Recording], list[str]]]] = {
    "two-tokens-a-chunk": as_mtp_sends,
    "doubled-beginning-across-chunks": in_characters,
    "doubled-beginning-in-one-chunk": in_one_chunk,
}


def streamed(one: Recording, pieces: Sequence[str], *, joined: bool = False) -> Scripted:
    """A chat stream: role alone, reasoning, content, finish.

    `joined`: the end of the reasoning and the first content share a delta, as they do where
    `</think>` and what follows it come from one step.
    """
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning": piece} for piece in _halves(one.reasoning)]
    contents = [{"content": piece} for piece in pieces]
    if joined and one.reasoning:
        deltas[-1] |= contents.pop(0)
    events = [chunk(delta) for delta in [*deltas, *contents]]
    events += [chunk({}, "stop"), b"data: [DONE]\n\n"]
    return Scripted(events, content_type="text/event-stream; charset=utf-8")


def _halves(text: str) -> Iterable[str]:
    half = len(text) // 2
    return [part for part in (text[:half], text[half:]) if part]
