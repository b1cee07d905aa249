"""One line of a vLLM log as it is read: without colours and prefixes, short, printable.

The text comes from a program that prints what models, files and users hand it.
"""

import re
from typing import Final

from proxy.recipes.show.printable import printable

LINE_CHARACTERS: Final = 2000

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# "(EngineCore pid=7) ", once for each process that handed the line on.
_PROCESS: Final = re.compile(r"^(?:\([\w.=: -]{1,60}\) ){1,4}")
# "INFO 11-30 16:13:06 [core.py:402] "; older versions have milliseconds or no brackets.
_HEAD: Final = re.compile(
    r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})? "
    r"(?:\[[^\]]{1,80}\]|\S{1,80}:\d{1,6}\]) ?"
)


def plain(line: str) -> str:
    """What the line says, at most `LINE_CHARACTERS` of it; indentation is kept."""
    short = _COLOUR.sub("", line[: 2 * LINE_CHARACTERS]).rstrip()
    return printable(_HEAD.sub("", _PROCESS.sub("", short)).expandtabs(4))[:LINE_CHARACTERS]
