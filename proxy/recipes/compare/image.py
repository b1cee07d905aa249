"""Whether a container image's name says which build it is."""

import re
from typing import Final

_MOVING: Final = frozenset({"latest", "nightly", "main", "master", "dev", "edge", "stable"})
_DAY: Final = re.compile(r"(?<!\d)20\d{2}-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


def is_fixed_build(image: str) -> bool:
    """Whether it has a digest, a tag that does not move, or a date in its name.

    A tag can be moved all the same, so that only a digest is proof.
    """
    if "@sha256:" in image:
        return True
    name, _, tag = image.rpartition("/")[2].partition(":")
    return _DAY.search(f"{name}:{tag}") is not None or bool(tag and tag not in _MOVING)
