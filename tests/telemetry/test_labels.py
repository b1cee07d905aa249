from enum import StrEnum

import pytest

from proxy.gates.base import Repair, Result
from proxy.recipes.lane.expectations import ShownSwitch
from proxy.telemetry import labels
from proxy.telemetry.metric import Label
from proxy.upstream.engine import EngineState


@pytest.mark.parametrize(
    ("label", "members"),
    [(labels.REPAIR, Repair), (labels.STATE, EngineState), (labels.SWITCH, ShownSwitch)],
)
def test_label_of_a_floor_above_tells_all_its_values(label: Label, members: type[StrEnum]) -> None:
    assert [member for member in members if f"`{member}`" not in label.meaning] == []


def test_results_of_verdicts_are_those_of_gates() -> None:
    assert set(labels.VERDICT_RESULT.values) == set(Result)


def test_label_without_a_closed_set_says_where_its_values_come_from() -> None:
    declared = [each for each in vars(labels).values() if isinstance(each, Label)]

    assert [each.name for each in declared if not each.values and not each.meaning] == []
