import pytest

from proxy.wire.depth import is_deeper


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ([], 1), ({"a": 1}, 1), ([{"a": [1]}, 2], 3), ({"a": [[]]}, 3)]
)
def test_depth_counts_nested_containers(value: object, depth: int) -> None:
    assert not is_deeper(value, depth)
    assert depth == 0 or is_deeper(value, depth - 1)


def test_depth_costs_no_stack() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]

    assert is_deeper(value, 100_000)
    assert not is_deeper(value, 100_001)
