"""Which answers the engine is driven to, and which requests meet them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from tests.e2e.vllm.defect_asking import Asked, Client, Manner, Question
from tests.engines.steering.client import Landing, Script
from tests.engines.steering.steered import Steered
from tests.engines.steering.texts import AT_ONCE, BLANK_LINE, TASKS, Task

# Each task streamed and not, greedy and sampled, and some of them once more.
REPEATS: Final = 20
SAMPLED_TEMPERATURE: Final = 0.7


class Case(StrEnum):
    """How `</think>` lands in a first answer, and what follows it there."""

    DRAFT = "draft, JSON at once"
    DRAFT_BLANK = "draft, blank line, JSON"
    BONUS = "bonus, JSON at once"
    TARGET = "target, JSON at once"
    THINKING_OFF = "thinking off"

    @property
    def landing(self) -> Landing:
        """Where no thought ends, none lands; the model would land it there if it thought."""
        return {Case.BONUS: Landing.BONUS, Case.TARGET: Landing.TARGET}.get(self, Landing.DRAFT)

    def scripts(self, task: Task) -> list[Script]:
        """Every attempt with thinking gets the same answer, every one without the straight one."""
        between = BLANK_LINE if self is Case.DRAFT_BLANK else AT_ONCE
        return _repeated(task.thinking(self.landing, between), task)


def moved(task: Task) -> list[Script]:
    """The first answer breaks; the same request again lands elsewhere, as sampling may have it."""
    first, second = task.thinking(Landing.DRAFT), task.thinking(Landing.TARGET)
    return [first, *_repeated(second, task)]


def _repeated(thinking: Script, task: Task) -> list[Script]:
    return [thinking, thinking, thinking, task.straight(), task.straight(), task.straight()]


async def ask_often(
    client: Client, engine: Steered, case: Case, numbers: Sequence[int] = range(REPEATS)
) -> list[Asked]:
    """One request after the other: the tasks in turn, in four manners in turn."""
    return [await client.ask(engine, question(case, number)) for number in numbers]


def question(case: Case, number: int) -> Question:
    turn, at = divmod(number, len(TASKS))
    manner = Manner(
        thinking=case is not Case.THINKING_OFF,
        stream=turn % 2 == 1,
        temperature=SAMPLED_TEMPERATURE if turn % 4 in {1, 2} else 0.0,
    )
    return Question(case, TASKS[at], manner, case.scripts(TASKS[at]))
