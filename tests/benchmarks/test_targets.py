"""Targets: met, missed with a reason, or not measured."""

import pytest
from targets import TARGETS, Target

from tests.benchmarks.made_run import run, turn


def verdicts(**changed: float) -> dict[str, list[str]]:
    turns = [change for change in run() if change.peer not in changed]
    turns += [
        turn(number, peer, speed=speed) for peer, speed in changed.items() for number in (1, 2)
    ]
    return {words: cells for words, *cells in (target.row(turns) for target in TARGETS)}


def limit(reached: float, *, at_most: bool) -> Target:
    return Target("a", lambda _: [reached], 2, at_most, because="it is slow")


@pytest.mark.parametrize(
    ("reached", "at_most", "verdict"),
    [
        (2.0, True, "met"),
        (2.1, True, "**missed**: it is slow"),
        (2.0, False, "met"),
        (1.9, False, "**missed**: it is slow"),
    ],
)
def test_limit_itself_is_met(reached: float, at_most: bool, verdict: str) -> None:
    assert limit(reached, at_most=at_most).row([])[-1] == verdict


def test_median_of_the_rounds_decides() -> None:
    target = Target("a", lambda _: [1, 1, 9], 2, at_most=True)

    assert target.row([]) == ["a", "at most 2.00", "1.00 (1.00–9.00)", "met"]  # noqa: RUF001 -- a range


def test_missed_target_without_a_reason_says_so() -> None:
    target = Target("a", lambda _: [9], 2, at_most=True)

    assert target.row([])[-1] == "**missed**: the reason has not been found yet"


def test_contender_that_is_not_there_leaves_its_targets_unmeasured() -> None:
    found = verdicts()

    assert found["replies/s, to Portkey's gateway"][1:] == ["-", "not measured"]
    assert found["streams/s, to nginx"][1:] == ["-", "not measured"]


def test_targets_of_a_made_up_run() -> None:
    found = {words: cells[1] for words, cells in verdicts().items()}

    assert found["replies/s, to LiteLLM's proxy"] == "100"
    assert found["p50 at one connection, to the bare relay"].startswith("2.00")
    assert found["TTFT added at 32 paced streams, to the bare relay's"].startswith("2.00")
    assert found["p50 that `strict_json` adds, in the bare relay's p50"].startswith("2.00")
    assert found["resident memory, to LiteLLM's proxy"].startswith("0.01")
    assert found["modules of litellm that the import loads"].startswith("0")


def test_round_in_which_the_relay_was_no_slower_than_no_proxy_says_nothing_of_ttft() -> None:
    found = verdicts(direct=10)

    assert found["TTFT added at 32 paced streams, to the bare relay's"][1:] == ["-", "not measured"]
