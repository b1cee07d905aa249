"""Four starts of an engine with the defect behind one proxy, and what each of them showed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.e2e.vllm.defect_asking import (
    Asked,
    Client,
    Manner,
    Question,
    ask_the_engine,
    client_of,
    is_valid,
)
from tests.e2e.vllm.defect_cases import REPEATS, Case, ask_often, moved
from tests.e2e.vllm.stage import until
from tests.engines.gate_process import GateProcess
from tests.engines.server import free_port
from tests.engines.steering.client import Script
from tests.engines.steering.steered import Producer, Steered
from tests.engines.steering.texts import TASKS, Task
from tests.engines.tiny_qwen import MTP


@dataclass(frozen=True, slots=True)
class Start:
    """How the first request of an engine start is met, and which ones follow it there.

    `moves`: `</think>` lands elsewhere when the first request is repeated; else the answer is the
    same again. `bypassing`: the case that breaks is at last asked for without the proxy too.
    """

    opening: Case
    further: Sequence[tuple[Case, range]]
    moves: bool = False
    bypassing: bool = False

    def scripts(self, task: Task) -> list[Script]:
        return moved(task) if self.moves else self.opening.scripts(task)


_ALL: Final = range(REPEATS)
_REST: Final = range(1, REPEATS)
_HALF: Final = REPEATS // 2
STARTS: Final = (
    Start(Case.DRAFT, [(Case.DRAFT, range(1, _HALF))], moves=True),
    Start(Case.DRAFT, [(Case.DRAFT, range(_HALF + 1, REPEATS))], bypassing=True),
    Start(Case.BONUS, [(Case.BONUS, _REST), (Case.DRAFT_BLANK, _ALL)]),
    Start(Case.TARGET, [(Case.TARGET, _REST), (Case.THINKING_OFF, _ALL)]),
)


@dataclass(frozen=True, slots=True)
class Story:
    """`openings`: the first request of each start. `bypassed`: was it valid without the proxy?

    `starts` and `lane` are the ledger's: its rows, oldest first, and what it makes of them.
    """

    openings: Sequence[Asked]
    further: Sequence[Asked]
    bypassed: Sequence[bool]
    starts: Sequence[Any]
    lane: Any

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (*self.openings, *self.further)


async def tell(producer: Producer, folder: Path) -> Story:
    """Run the starts, one after the other at the same address, behind one proxy."""
    port = free_port()
    openings: list[Asked] = []
    further: list[Asked] = []
    bypassed: list[bool] = []
    async with (
        GateProcess(folder, f"http://127.0.0.1:{port}") as gate,
        client_of(gate) as client,
    ):
        for number, start in enumerate(STARTS):
            async with producer.start(*MTP, port=port) as engine:
                manner = Manner(stream=number % 2 == 1)
                openings.append(await _open(client, engine, start, manner))
                for case, numbers in start.further:
                    further += await ask_often(client, engine, case, numbers)
                if start.bypassing:
                    bypassed = await _bypass(engine)
        rows, lane = await _ledger(gate)
    return Story(openings, further, bypassed, rows, lane)


async def _open(client: Client, engine: Steered, start: Start, manner: Manner) -> Asked:
    """The first request, once the proxy has seen that this is another start of its engine."""

    async def cold() -> bool:
        return bool((await client.gate.lane())["engine"] == "cold")

    await until(cold)
    task = TASKS[0]
    question = Question(start.opening, task, manner, start.scripts(task))
    return await client.ask(engine, question)


async def _bypass(engine: Steered) -> list[bool]:
    return [
        is_valid(await ask_the_engine(engine, task, Case.DRAFT.scripts(task)), task)
        for task in TASKS
    ]


async def _ledger(gate: GateProcess) -> tuple[list[Any], Any]:
    """The rows of all starts, once the last one's is there, and the summary of the lane."""
    document: dict[str, Any] = {}

    async def complete() -> bool:
        document.update(json.loads(await gate.command("ledger", "starts", "--json")))
        return sum("first_answer" in row for row in document["starts"]) == len(STARTS)

    await until(complete)
    rows = sorted(document["starts"], key=lambda row: row["seen_at"])
    return rows, document["lanes"][0]
