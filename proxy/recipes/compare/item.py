"""A sentence as one item of a list in a terminal."""

import textwrap
from typing import Final

_COLUMNS: Final = 100


def item_lines(text: str) -> list[str]:
    """Behind a hyphen, in lines of at most 100 columns where its words allow that."""
    return textwrap.wrap(
        text,
        _COLUMNS,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
