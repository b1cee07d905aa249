"""Where the engine begins among the words of a command, and how many of them name its program.

A shell would also start it behind assignments (`A=1 vllm serve`) and behind programs that start
others (`env`, `nice`, `numactl`), and as a module of Python. Nothing of that is run here; it is
found, so that the engine's flags can be read.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from proxy.recipes.recipe import SERVE, VLLM_MODULES, program_name

ENGINES: Final = ("vllm", "sglang", "llama-server", "trtllm-serve", "atlas")
EXEC: Final = "exec"
ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_VLLM: Final = "vllm"
_ENV: Final = "env"
_PYTHON: Final = re.compile(r"python\d*(\.\d+)*")
_MODULE: Final = "-m"
_WITH_VALUE: Final = frozenset({"-X", "-W"})
_PROGRAM_WORDS: Final = 2


def plain_start(texts: Sequence[str]) -> int | None:
    """Where an engine begins that only assignments, `exec` and `env` stand before, if one does."""
    begin = len(list(takewhile(_starts_nothing, texts)))
    is_engine = begin < len(texts) and program_name(texts[begin]) in ENGINES
    return begin if is_engine else (begin if _vllm_words(texts, begin) else None)


def wrapped_start(texts: Sequence[str]) -> int | None:
    """Where vLLM's server begins among words that other programs are given."""
    return next((at for at in range(len(texts)) if _vllm_words(texts, at)), None)


def program_length(texts: Sequence[str]) -> int:
    """How many of the words name the program: two of `vllm serve`, one of what is not known."""
    has_serve = len(texts) >= _PROGRAM_WORDS and texts[1] == SERVE
    return _vllm_words(texts, 0) or (_PROGRAM_WORDS if has_serve else min(1, len(texts)))


def _starts_nothing(text: str) -> bool:
    return text in {EXEC, _ENV} or ASSIGNMENT.fullmatch(text) is not None


def _vllm_words(texts: Sequence[str], begin: int) -> int:
    """How many words from `begin` on start vLLM's server; 0 where they do not."""
    name = program_name(texts[begin]) if begin < len(texts) else ""
    if name == _VLLM and _text(texts, begin + 1) == SERVE:
        return _PROGRAM_WORDS
    if not _PYTHON.fullmatch(name):
        return 0
    at = begin + 1
    while _text(texts, at).startswith("-") and texts[at] != _MODULE:
        at += 2 if texts[at] in _WITH_VALUE else 1
    for module in VLLM_MODULES:
        if (_MODULE, *module) == tuple(texts[at : at + 1 + len(module)]):
            return at + 1 + len(module) - begin
    return 0


def _text(texts: Sequence[str], at: int) -> str:
    return texts[at] if at < len(texts) else ""
