"""The production contract on the real defect: over four engine starts, clients see nothing of it.

vLLM 0.24 with MTP breaks a strict-JSON answer when `</think>` is accepted as a draft token and the
JSON follows at once. What the model writes and where `</think>` lands is steered; what the engine
makes of it is its own. Where that version has no wheel, a relay before a later one does the damage.
"""

import asyncio
import os
from typing import Final

import pytest

from tests.e2e.vllm.defect_asking import Asked
from tests.e2e.vllm.defect_cases import REPEATS, Case
from tests.e2e.vllm.defect_report import Measured, clear, folder_of, today, write_report
from tests.e2e.vllm.defect_story import STARTS, Story, tell
from tests.engines.cache import Cache
from tests.engines.environment import VLLM_0_24, EnvironmentFailed, NoWheel, VllmEnvironment
from tests.engines.steering.client import Landing
from tests.engines.steering.steered import Producer

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(1200)]

# What produces the defect: `vllm` where 0.24 can be had, or `relay`.
VARIABLE: Final = "SLUICEGATE_E2E_DEFECT"
VLLM: Final = "vllm"
RELAY: Final = "relay"
BROKEN: Final = ("leading_junk",)


@pytest.fixture(scope="module")
def producer(cache: Cache, request: pytest.FixtureRequest) -> Producer:
    """Told in the first line: is it vLLM 0.24 itself, or the relay that stands in?"""
    wanted = os.environ.get(VARIABLE, VLLM)
    if wanted not in {VLLM, RELAY}:
        raise pytest.UsageError(f"{VARIABLE} is `{wanted}`: set it to {VLLM} or {RELAY}")
    chosen = None
    if wanted == VLLM:
        try:
            chosen = Producer(VllmEnvironment.provide(VLLM_0_24, cache, os.environ))
        except EnvironmentFailed as error:
            if os.environ.get("CI") and not isinstance(error, NoWheel):
                raise
            cache.say(f"vLLM 0.24.0 cannot be had here: {error}")
    if chosen is None:
        chosen = Producer(request.getfixturevalue("vllm_0_32"), relayed=True)
    cache.say(f"The defect is produced by {chosen}.")
    return chosen


@pytest.fixture(scope="module")
def story(producer: Producer, cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Told once: its measurements are kept and printed, its facts are the tests below."""
    folder = folder_of(cache)
    clear(folder)
    told = asyncio.run(tell(producer, tmp_path_factory.mktemp("defect")))
    engine = f"{producer.environment.version}{' and relay' if producer.relayed else ''}, MTP1"
    bypassed = (len(told.bypassed), sum(told.bypassed))
    Measured(engine, today(), told.asked, str(producer), *bypassed).save(folder, "1-defect")
    write_report(folder)
    cache.say(f"The table of the defect, without the controls, is in {folder}.")
    return told


def _of(story: Story, case: Case) -> list[Asked]:
    return [asked for asked in story.asked if asked.case == case]


def test_end_of_thought_landed_where_each_case_says(story: Story) -> None:
    landed = {
        asked.case: {each.first.landing for each in _of(story, Case(asked.case))}
        for asked in story.asked
    }

    assert landed == {
        Case.DRAFT: {Landing.DRAFT},
        Case.DRAFT_BLANK: {Landing.DRAFT},
        Case.BONUS: {Landing.BONUS},
        Case.TARGET: {Landing.TARGET},
        Case.THINKING_OFF: {None},
    }


def test_every_answer_breaks_where_the_draft_is_accepted_and_the_json_follows_at_once(
    story: Story,
) -> None:
    assert [asked.first.faults for asked in _of(story, Case.DRAFT)] == [BROKEN] * REPEATS


@pytest.mark.parametrize("case", [Case.DRAFT_BLANK, Case.BONUS, Case.TARGET, Case.THINKING_OFF])
def test_every_other_answer_is_valid_at_once(story: Story, case: Case) -> None:
    attempts = [asked.attempts for asked in _of(story, case)]

    assert len(attempts) == REPEATS
    assert all(len(each) == 1 and each[0].valid for each in attempts)


def test_client_sees_valid_answers_only(story: Story) -> None:
    assert [asked for asked in story.asked if not asked.valid] == []


def test_no_broken_byte_reaches_a_client_streamed_or_not(story: Story) -> None:
    broken = _of(story, Case.DRAFT)

    assert {asked.stream for asked in broken} == {True, False}
    assert [asked for asked in broken if not asked.exact] == []


def test_client_without_the_proxy_gets_the_broken_answers(story: Story) -> None:
    assert story.bypassed
    assert not any(story.bypassed)


def test_identical_retry_cures_a_cold_start_when_the_end_of_thought_moves(story: Story) -> None:
    opening = story.openings[0]

    assert [(each.step, each.landing, each.valid) for each in opening.attempts] == [
        ("first", Landing.DRAFT, False),
        ("cold", Landing.TARGET, True),
    ]


def test_thinking_off_cures_a_cold_start_when_the_identical_retry_repeats_the_fault(
    story: Story,
) -> None:
    opening = story.openings[1]

    assert [(each.step, each.landing, each.valid) for each in opening.attempts] == [
        ("first", Landing.DRAFT, False),
        ("cold", Landing.DRAFT, False),
        ("vary", None, True),
    ]
    assert opening.attempts[1].faults == BROKEN


def test_warm_engine_is_cured_by_thinking_off_at_once(story: Story) -> None:
    warm = [asked for asked in story.further if asked.case == Case.DRAFT]

    assert {tuple(each.step for each in asked.attempts) for asked in warm} == {("first", "vary")}
    assert {asked.cured_by for asked in warm} == {"vary"}


def test_ledger_tells_each_start_by_its_first_answer_and_what_cured_it(story: Story) -> None:
    told = [
        (
            row["untouched"],
            row["first_answer"],
            row.get("first_fault"),
            row.get("retry_step"),
            row.get("retry_valid"),
            row.get("cured_by"),
        )
        for row in story.starts
    ]

    assert told == [
        (True, "invalid", "leading_junk", "cold", True, "cold"),
        (True, "invalid", "leading_junk", "cold", False, "vary"),
        (True, "valid", None, None, None, None),
        (True, "valid", None, None, None, None),
    ]


def test_ledger_makes_a_rate_of_clean_samples(story: Story) -> None:
    assert (story.lane["samples"], story.lane["invalid"]) == (len(STARTS), 2)
    assert (story.lane["retried_identically"], story.lane["cured_by_identical_retry"]) == (2, 1)
    low, high = story.lane["interval"]
    assert low < 0.5 < high
