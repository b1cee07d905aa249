"""Whom a gate's block has judge its hints: a lane of the settings, asked by a step of a ladder."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from proxy.contract.known_words import did_you_mean
from proxy.contract.policy_ladders import JUDGE, WrittenLadder
from proxy.errors import Problem
from proxy.yaml_places import KeyPath, Places


def judge_lane(members: Mapping[str, Any], ladders: Collection[WrittenLadder]) -> str:
    """The lane that a gate's block names; empty where it names none."""
    for ladder in ladders:
        judge = members.get(ladder.kind.judge)
        lane = judge.get("lane") if isinstance(judge, dict) else None
        if isinstance(lane, str):
            return lane
    return ""


def judge_problems(
    members: Mapping[str, Any],
    ladders: Collection[WrittenLadder],
    path: KeyPath,
    places: Places,
    lanes: Collection[str] | None,
) -> Iterator[Problem]:
    """The step `judge` needs a lane, a lane needs the step, and the settings must have it."""
    for ladder in ladders:
        key = ladder.kind.judge
        if not key:
            continue
        judge, at = members.get(key), ladder.judges_at
        steps = (*path, *ladder.kind.key)
        if judge is None and at is not None:
            message = f"`{JUDGE}` asks a lane, but `{_dotted(path)}` names none"
            remedy = f"add `{key}: {{lane: NAME}}` beside `{ladder.kind.key[0]}`"
            yield Problem(places.value((*steps, at)), message, remedy)
        if judge is not None and at is None:
            message = f"`{_dotted((*path, key))}` is asked by no step"
            remedy = f"write `{_dotted(steps)}: [{JUDGE}, flag]`, or remove it"
            yield Problem(places.key((*path, key)), message, remedy)
        lane = judge.get("lane") if isinstance(judge, dict) else None
        if lanes is not None and isinstance(lane, str) and lane and lane not in lanes:
            message = f"there is no lane `{lane}` in the settings"
            yield Problem(places.value((*path, key, "lane")), message, did_you_mean(lane, lanes))


def _dotted(path: KeyPath) -> str:
    return ".".join(map(str, path))
