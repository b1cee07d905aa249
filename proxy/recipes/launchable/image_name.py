"""Whether a text can be the name of a container image.

Names are those of the distribution project's `reference` package, read generously: a registry may
allow less. What matters is that no such name holds a blank, a line break or a leading hyphen.
"""

import re
from typing import Final

from proxy.errors import Place, Problem

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")


def image_problem(name: str, place: Place) -> Problem | None:
    """What is wrong with the name, if something is."""
    if _NAME.fullmatch(name):
        return None
    message = "`container` is no name of an image"
    return Problem(place, message, "write REPOSITORY:TAG, of letters, digits and `._-/:@`")
