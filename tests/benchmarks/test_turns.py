"""Contenders against each other."""

import json
from dataclasses import asdict

import pytest
from tally import Figures
from turns import (
    REPLIES_AT_16,
    RESIDENT,
    STREAMS_AT_16,
    WAY_AT_32,
    Turn,
    added,
    nothing_but_errors,
    ratios,
    values,
)

from tests.benchmarks.made_run import run, turn


def test_ratios_are_taken_within_a_round() -> None:
    assert ratios(run(), "pass", REPLIES_AT_16) == [0.5, 0.5]
    assert ratios(run(), "pass", REPLIES_AT_16, "litellm") == pytest.approx([100, 100])


def test_additions_are_to_the_load_without_a_proxy() -> None:
    assert added(run(), "pass", WAY_AT_32) == pytest.approx([0.4, 0.4])


def test_round_in_which_one_of_both_was_not_measured_has_no_ratio() -> None:
    half = [*run(), turn(3, "pass", speed=1)]

    assert len(ratios(half, "pass", RESIDENT)) == 2
    assert len(values(half, "pass", RESIDENT)) == 3


def test_rate_of_a_load_that_completed_nothing_is_no_rate() -> None:
    nothing = Figures(completed=0, errors=7, per_second=0.0)
    turns = [Turn(1, "portkey", "Portkey's gateway", {"stream_16": nothing})]

    assert values(turns, "portkey", STREAMS_AT_16) == []
    assert nothing_but_errors(turns, "portkey", "stream_16")
    assert not nothing_but_errors(turns, "portkey", "json_16")
    assert not nothing_but_errors(run(), "pass", "stream_16")


def test_turns_survive_being_stored() -> None:
    stored = json.loads(json.dumps([asdict(turn) for turn in run()]))

    assert [Turn.read(turn) for turn in stored] == run()
