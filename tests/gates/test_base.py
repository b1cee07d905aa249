import pytest

from proxy.gates.base import Repair, Repaired


@pytest.mark.parametrize("repair", list(Repair))
def test_only_moving_the_document_clears_the_reasoning(repair: Repair) -> None:
    repaired = Repaired("{}", (repair,))

    assert repaired.clears_reasoning is (repair is Repair.JSON_FROM_REASONING)
