"""Numbers for a JSON Schema: its counts, and a value between its bounds."""

import math
import random
from collections.abc import Mapping
from typing import Any, Final

from proxy.demo.imitation.asked import WrongRequest

_MOST_STEPS: Final = 1000
_HUGE: Final = 1e15

Schema = Mapping[str, Any]


class Unsupported(WrongRequest):
    """A schema that this imitation cannot answer."""

    def __init__(self, what: str) -> None:
        super().__init__(f"this imitation has no answer for a schema with {what}")


def whole_number(schema: Schema, word: str, default: int) -> int:
    """A count such as `minItems`. Raises `Unsupported`."""
    value = schema.get(word, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unsupported(f"such a `{word}`")
    return value


def number_for(schema: Schema, chance: random.Random, *, whole: bool) -> float:
    """A number that the bounds and `multipleOf` allow. Raises `Unsupported`."""
    step = _read(schema, "multipleOf", 1.0 if whole else 0.5)
    if step <= 0 or (whole and step != int(step)):
        raise Unsupported("such a `multipleOf`")
    low, high = _bounds(schema, step if whole else 0.01)
    first, last = math.ceil(low / step), math.floor(high / step)
    if first <= last:
        value = chance.randint(first, min(last, first + _MOST_STEPS)) * step
        return int(value) if whole else value
    if whole or "multipleOf" in schema or low > high:
        raise Unsupported("bounds that leave no number")
    return (low + high) / 2


def _bounds(schema: Schema, hair: float) -> tuple[float, float]:
    """The lowest and the highest number; exclusive ones are moved inwards by a hair."""
    lows = [
        _read(schema, "minimum", -math.inf),
        _read(schema, "exclusiveMinimum", -math.inf) + hair,
    ]
    highs = [_read(schema, "maximum", math.inf), _read(schema, "exclusiveMaximum", math.inf) - hair]
    low, high = max(lows), min(highs)
    if low == -math.inf:
        low = min(0.0, high)
    return low, min(high, low + 100.0) if high == math.inf else high


def _read(schema: Schema, word: str, default: float) -> float:
    if word not in schema:
        return default
    value = schema[word]
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _HUGE:
        raise Unsupported(f"such a `{word}`")
    return float(value)
