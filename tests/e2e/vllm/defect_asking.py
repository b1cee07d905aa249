"""Asks for strict JSON through the proxy and sees what the client got and how it came about."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import jsonschema
import msgspec
import openai

from tests.e2e.vllm.stage import says, strict
from tests.engines.gate_process import GateProcess
from tests.engines.steering.client import Landing, Script
from tests.engines.steering.steered import MODEL, Steered
from tests.engines.steering.texts import Task

THINKING_OFF: Final[Mapping[str, Any]] = {"chat_template_kwargs": {"enable_thinking": False}}


class Tried(msgspec.Struct, frozen=True):
    """One attempt: the proxy's record of it, and where `</think>` landed in the engine."""

    step: str
    valid: bool
    faults: tuple[str, ...]
    landing: Landing | None


class Asked(msgspec.Struct, frozen=True):
    """One request. `valid`: what the client got is JSON of its schema; `exact`: and, but for
    blanks around it, the very text that the model was told to write.
    """

    case: str
    task: str
    stream: bool
    attempts: tuple[Tried, ...]
    valid: bool
    exact: bool

    @property
    def first(self) -> Tried:
        return self.attempts[0]

    @property
    def cured_by(self) -> str | None:
        """The step whose answer was valid, where the first one was not."""
        last = self.attempts[-1]
        return last.step if last.valid and not self.first.valid else None


@dataclass(frozen=True, slots=True)
class Manner:
    """How a client asks: nothing of this should matter to what it gets."""

    thinking: bool = True
    stream: bool = False
    temperature: float = 0.0

    def members(self, task: Task) -> dict[str, Any]:
        """The arguments of the official client."""
        return {
            "model": MODEL,
            "messages": says(task.ask),
            "max_tokens": 400,
            "temperature": self.temperature,
            "response_format": strict(task.schema, task.name),
            "extra_body": None if self.thinking else THINKING_OFF,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One request, and the engine's answers to the attempts it may take."""

    case: str
    task: Task
    manner: Manner
    scripts: Sequence[Script]


@dataclass(frozen=True, slots=True)
class Client:
    """The official client of a proxy, and what the proxy tells of its requests afterwards."""

    gate: GateProcess
    openai: openai.AsyncOpenAI

    async def ask(self, engine: Steered, question: Question) -> Asked:
        """One request through the proxy, from steering to record."""
        task, manner = question.task, question.manner
        await engine.follow(question.scripts)
        content, request_id = await _answer(self.openai, task, manner)
        attempts = (await self.gate.record(request_id))["attempts"]
        landings = [watched.landing for watched in await engine.watched()]
        return Asked(
            question.case,
            task.name,
            manner.stream,
            tuple(_tried(*each) for each in zip(attempts, landings, strict=True)),
            valid=is_valid(content, task),
            exact=content.strip() == json.dumps(task.answer),
        )


@asynccontextmanager
async def client_of(gate: GateProcess) -> AsyncIterator[Client]:
    async with gate.client() as client:
        yield Client(gate, client)


async def ask_the_engine(engine: Steered, task: Task, scripts: Sequence[Script]) -> str:
    """The same request with no proxy between; the text that the client gets."""
    await engine.follow(scripts)
    async with openai.AsyncOpenAI(base_url=f"{engine.url}/v1", api_key="none") as client:
        content, _ = await _answer(client, task, Manner())
    return content


def is_valid(content: str, task: Task) -> bool:
    """Is it JSON of the schema? Judged by other means than the proxy's."""
    try:
        jsonschema.validate(json.loads(content), task.schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


async def _answer(client: openai.AsyncOpenAI, task: Task, manner: Manner) -> tuple[str, str]:
    """The text as the client puts it together, and the id of the request."""
    create = client.chat.completions.with_raw_response.create
    if not manner.stream:
        raw = await create(**manner.members(task))
        reply = raw.parse()
        return reply.choices[0].message.content or "", raw.headers.get("x-request-id", "")
    raw = await create(**manner.members(task), stream=True)
    pieces = [choice.delta.content or "" async for chunk in raw.parse() for choice in chunk.choices]
    return "".join(pieces), raw.headers.get("x-request-id", "")


def _tried(attempt: Mapping[str, Any], landing: Landing | None) -> Tried:
    faults = tuple(attempt.get("faults", ()))
    return Tried(attempt["step"], attempt["result"] == "valid", faults, landing)
