"""The guided tour: five requests through the proxy, each answer, and what the gates did with it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

import aiohttp

from proxy.demo.account import NoAccount, fetch_record, tell_headers, tell_record
from proxy.demo.answer import read_answer
from proxy.demo.fault import FAULT_HEADER, FAULT_ONCE
from proxy.demo.screen import Colour, Screen, shortened, wants_colour

_STEP_SECONDS: Final = 120.0
_ERRORS_FROM: Final = 400
_CITY: Final = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "country": {"type": "string", "maxLength": 40},
        "capital": {"type": "boolean"},
    },
    "required": ["city", "country", "capital"],
    "additionalProperties": False,
}
_STRICT_JSON: Final = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "city", "strict": True, "schema": _CITY},
    }
}
_TOOL_CALL: Final = {
    "tool_choice": "required",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "The weather of a city now",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        }
    ],
}
_NO_TOOL_CALL: Final = (
    "The tool call is missing: `tool_choice` was `required`, the model answered in prose every "
    "time. The gate refuses such a reply."
)
_MISSING_CALL: Final = "missing_call"


@dataclass(frozen=True, slots=True)
class Step:
    """One request of the tour."""

    title: str
    question: str
    members: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


STEPS: Final = (
    Step("Plain chat", "What is a sluice gate? One sentence."),
    Step(
        "Stream",
        "Why does a lock have two gates? One sentence.",
        {"stream": True, "stream_options": {"include_usage": True}},
    ),
    Step(
        "Strict JSON, with one injected fault",
        "Describe Paris as JSON: city, country, capital.",
        _STRICT_JSON,
        {FAULT_HEADER: FAULT_ONCE},
        note="INJECTED FAULT: the demo changes one byte between engine and gate, on the first "
        "attempt only, so that the gate has something to catch. No model did this.",
    ),
    Step("Strict JSON", "Describe Rome as JSON: city, country, capital.", _STRICT_JSON),
    Step("Required tool call", "What is the weather in Paris now?", _TOOL_CALL),
)


class StreamFailed(ValueError):
    """A stream carried an error event; the message is the error's."""


async def tour(base_url: str, admin_url: str, model: str, out: TextIO, embedded: bool) -> None:
    """Take every step; one that fails says so, and the next one follows.

    `base_url` is what an SDK would be given, `/v1` included.
    """
    screen = Screen(out, coloured=wants_colour(out, os.environ))
    timeout = aiohttp.ClientTimeout(total=_STEP_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        guide = _Guide(session, base_url, admin_url, screen)
        for number, step in enumerate(STEPS, 1):
            screen.title(f"{number}/{len(STEPS)}  {step.title}")
            if step.note:
                screen.line("note", step.note, Colour.NOTE)
            screen.line("asked", step.question)
            try:
                await guide.take(step, {"model": model, **_limits(embedded)})
            except (aiohttp.ClientError, TimeoutError) as error:
                screen.line("error", _described(error), Colour.BAD)


def _limits(embedded: bool) -> dict[str, object]:
    """Short answers. A reasoning model of the reader's own is asked to answer without thinking."""
    if embedded:
        return {"max_tokens": 48, "temperature": 0}
    return {"max_tokens": 256, "chat_template_kwargs": {"enable_thinking": False}}


class _Guide:
    """Sends one step's request and tells how it went."""

    def __init__(
        self, session: aiohttp.ClientSession, base_url: str, admin_url: str, screen: Screen
    ) -> None:
        self._session = session
        self._url = f"{base_url}/chat/completions"
        self._admin_url = admin_url
        self._screen = screen

    async def take(self, step: Step, members: Mapping[str, Any]) -> None:
        body = {
            **members,
            "messages": [{"role": "user", "content": step.question}],
            **step.members,
        }
        async with self._session.post(self._url, json=body, headers=step.headers) as response:
            try:
                if response.content_type == "text/event-stream":
                    await self._flow(response)
                else:
                    self._tell_answer(response.status, await response.read())
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                self._screen.line("error", _described(error), Colour.BAD)
        await self._account(response.headers)

    async def _flow(self, response: aiohttp.ClientResponse) -> None:
        self._screen.begin("answer")
        try:
            async for line in response.content:
                if line.startswith(b"data:"):
                    self._screen.flow(_delta(line.removeprefix(b"data:").strip()))
        finally:
            self._screen.end()

    def _tell_answer(self, status: int, body: bytes) -> None:
        answer = read_answer(body)
        if status >= _ERRORS_FROM or answer.error is not None:
            self._screen.line(
                "answer",
                f"HTTP {status}, {answer.error or shortened(body.decode(errors='replace'))}",
                Colour.BAD,
            )
            if answer.error is not None and answer.error.code == _MISSING_CALL:
                self._screen.line("note", _NO_TOOL_CALL, Colour.NOTE)
            return
        choice = answer.first
        calls = choice.message.tool_calls or ()
        for call in calls:
            self._screen.line("answer", str(call))
        if not calls:
            nothing = f"(no content, finish_reason {choice.finish_reason})"
            end = " [max_tokens reached]" if choice.finish_reason == "length" else ""
            self._screen.line("answer", shortened(choice.message.content or nothing) + end)

    async def _account(self, headers: Mapping[str, str]) -> None:
        request_id = headers.get("x-request-id", "")
        try:
            record = await fetch_record(self._session, self._admin_url, request_id)
        except NoAccount as reason:
            tell_headers(self._screen, headers)
            self._screen.line("record", str(reason), Colour.NOTE)
        else:
            tell_record(self._screen, record)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _delta(data: bytes) -> str:
    if data in {b"", b"[DONE]"}:
        return ""
    event = read_answer(data)
    if event.error is not None:
        raise StreamFailed(str(event.error))
    return event.first.delta.content or ""
