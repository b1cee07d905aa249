from importlib.metadata import EntryPoint

import pytest
from pydantic import BaseModel

from proxy.errors import ConfigError
from proxy.gates.registry import GROUP, GateKind, gate_kinds
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions


class ShoutOptions(BaseModel):
    loud: bool = True


def _build(_: ShoutOptions) -> StrictJsonGate:
    return StrictJsonGate(StrictJsonOptions())


SHOUT = GateKind("shout", ShoutOptions, _build)
IMPOSTOR = GateKind("strict_json", ShoutOptions, _build)


def _point(attribute: str, module: str = __name__) -> EntryPoint:
    return EntryPoint("extra", f"{module}:{attribute}", GROUP)


def test_own_gates_are_known() -> None:
    kinds = gate_kinds()

    assert kinds["strict_json"].options is StrictJsonOptions
    assert kinds["strict_json"].build(StrictJsonOptions()).name == "strict_json"


def test_installed_gate_comes_after_our_own() -> None:
    kinds = gate_kinds([_point("SHOUT")])

    assert list(kinds) == [*gate_kinds([]), "shout"]
    assert kinds["shout"] is SHOUT


@pytest.mark.parametrize(
    ("point", "message"),
    [
        pytest.param(_point("SHOUT", "no_such_module"), "cannot be loaded", id="no-module"),
        pytest.param(_point("NO_SUCH_NAME"), "cannot be loaded", id="no-name"),
        pytest.param(_point("ShoutOptions"), "does not load to a GateKind", id="other-thing"),
        pytest.param(_point("IMPOSTOR"), "already a gate named strict_json", id="own-name"),
    ],
)
def test_unusable_entry_point_is_named(point: EntryPoint, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        gate_kinds([point])

    assert refused.value.problems[0].place.file.startswith("entry point extra = ")


def test_all_unusable_entry_points_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as refused:
        gate_kinds([_point("SHOUT"), _point("SHOUT"), _point("NO_SUCH_NAME")])

    assert len(refused.value.problems) == 2
