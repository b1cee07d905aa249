"""How deeply a JSON value nests."""

from typing import Any


def is_deeper(value: Any, max_depth: int) -> bool:
    """Whether objects and arrays nest deeper than allowed, without recursion."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(max_depth):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return bool(level)
