"""Tokens of the imitation: pieces of a text, cut by a rule instead of a vocabulary."""

import re
import zlib
from typing import Final

_PIECE: Final = re.compile(r" ?[^\W\d_]{1,6}|\d{1,3}|\s|[^\w\s]|_|.", re.DOTALL)
_VOCABULARY: Final = 151_000
# What a chat template adds to each message, roughly.
MESSAGE_TOKENS: Final = 5


def pieces_of(text: str) -> list[str]:
    """The tokens of a text; joined they are the text again."""
    return _PIECE.findall(text)


def token_id(piece: str) -> int:
    """A number that is always the same for a piece."""
    return zlib.crc32(piece.encode("utf-8", "surrogatepass")) % _VOCABULARY
