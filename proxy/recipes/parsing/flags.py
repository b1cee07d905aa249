"""The flags of an argument list, read as vLLM reads them.

The rules are those of vLLM's `FlexibleArgumentParser` (vllm/utils/argparse_utils.py) over Python's
argparse, seen on version 0.32: `_` counts as `-` in long flags, long flags may be shortened,
`-O3` is the optimization level, dotted flags set one key of a JSON flag, and the last one counts.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, Final

from proxy.recipes.parsing.human_numbers import read_number
from proxy.recipes.recipe import Argument, Flag
from proxy.recipes.vllm.facts import Arity, VllmFacts, VllmFlag

_NEGATION: Final = "--no-"
_LEVEL: Final = "--optimization-level"
_NEGATIVE_NUMBER: Final = re.compile(r"-\d+(\.\d*)?|-\.\d+")
_LONG_NAME: Final = re.compile(r"--[^.=]*")


@dataclass(frozen=True, slots=True)
class ArgumentList:
    """Flags and other words of one argument list; see `proxy.recipes.recipe.Command`."""

    written: tuple[Flag, ...]
    flags: Mapping[str, Flag]
    words: tuple[Argument, ...]


def read_arguments(arguments: Sequence[Argument], facts: VllmFacts) -> ArgumentList:
    """Tell flags from other words. A flag that is not known takes one word, if one follows."""
    reader = _Reader(arguments, facts)
    written = tuple(reader.flags())
    return ArgumentList(written, _counting(written), tuple(reader.words))


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A flag as it is written: its name, the keys behind its dots, the value behind its `=`."""

    name: str
    keys: tuple[str, ...] = ()
    value: str | None = None


def _spelled(word: str) -> _Spelling:
    """Underscores of a long flag are hyphens, up to the first dot or `=`."""
    if long_name := _LONG_NAME.match(word):
        word = long_name[0].replace("_", "-") + word[long_name.end() :]
    name, equals, value = word.partition("=")
    name, *keys = name.split(".")
    return _Spelling(name, tuple(keys), value if equals else None)


@dataclass(frozen=True, slots=True)
class _LongSpelling:
    """One spelling of a flag that vLLM knows."""

    text: str
    flag: VllmFlag
    negated: bool


class _Reader:
    """Walks along an argument list once."""

    def __init__(self, arguments: Sequence[Argument], facts: VllmFacts) -> None:
        self.words: list[Argument] = []
        self._arguments = arguments
        self._facts = facts
        self._spellings = _long_spellings(facts)
        self._at = 0

    def flags(self) -> Iterator[Flag]:
        while self._at < len(self._arguments):
            argument = self._arguments[self._at]
            self._at += 1
            if argument.text == "--":
                self.words += self._arguments[self._at :]
                return
            if _is_flag(argument.text):
                yield self._flag(argument)
            else:
                self.words.append(argument)

    def _flag(self, argument: Argument) -> Flag:
        if argument.text.startswith("-O") and not argument.text.startswith("-O."):
            return self._level(argument)
        spelling = _spelled(argument.text)
        known, is_negated = self._known(spelling.name)
        flag = Flag(
            name=known.name if known else spelling.name,
            spelling=argument.text,
            values=(),
            place=argument.place,
            negated=is_negated,
            known=known is not None,
        )
        if spelling.keys:
            value = spelling.value if spelling.value is not None else self._following(dashed=True)
            return replace(flag, values=(".".join(spelling.keys), value or ""))
        if spelling.value is not None:
            return replace(flag, values=(spelling.value,))
        if known is None and (glued := self._glued(argument)):
            return glued
        return replace(flag, values=self._values(known, is_negated=is_negated))

    def _known(self, name: str) -> tuple[VllmFlag | None, bool]:
        """The flag of a name or of the one flag that it shortens, and whether it is negated."""
        if flag := self._facts.flag(name):
            return flag, False
        positive = "--" + name.removeprefix(_NEGATION)
        negated = self._facts.flag(positive) if name.startswith(_NEGATION) else None
        if negated and negated.arity is Arity.SWITCH:
            return negated, True
        return self._shortened(name)

    def _shortened(self, name: str) -> tuple[VllmFlag | None, bool]:
        if not name.startswith("--") or len(name) == len("--"):
            return None, False
        begin = bisect_left(self._spellings, name, key=_spelling_of)
        matching = takewhile(
            lambda each: each.text.startswith(name), islice(self._spellings, begin, None)
        )
        found = {(each.flag.name, each.negated): each for each in matching}
        if len(found) != 1:
            return None, False
        (only,) = found.values()
        return only.flag, only.negated

    def _glued(self, argument: Argument) -> Flag | None:
        """`-qfp8`: a flag of one letter with its value behind it."""
        short = self._facts.flag(argument.text[:2]) if argument.text[1] != "-" else None
        if short is None or short.arity in {Arity.SWITCH, Arity.FLAG}:
            return None
        return Flag(short.name, argument.text, (argument.text[2:],), argument.place)

    def _level(self, argument: Argument) -> Flag:
        value = argument.text.removeprefix("-O").removeprefix("=") or self._following() or ""
        return Flag(_LEVEL, argument.text, (value,), argument.place)

    def _values(self, known: VllmFlag | None, *, is_negated: bool) -> tuple[str, ...]:
        arity = known.arity if known else Arity.OPTIONAL
        if is_negated or arity in {Arity.SWITCH, Arity.FLAG}:
            return ()
        values = []
        while (value := self._following()) is not None:
            values.append(value)
            if arity is not Arity.MANY:
                break
        return tuple(values)

    def _following(self, *, dashed: bool = False) -> str | None:
        """The next word where it is a value; a dotted flag takes any."""
        if self._at >= len(self._arguments):
            return None
        word = self._arguments[self._at].text
        if _is_flag(word) and not dashed:
            return None
        self._at += 1
        return word


def _is_flag(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not _NEGATIVE_NUMBER.fullmatch(word)


def _long_spellings(facts: VllmFacts) -> list[_LongSpelling]:
    """Every long name that may be shortened, the `--no-` forms among them, in order."""
    plain = [
        _LongSpelling(text, flag, negated=False)
        for flag in facts.flags
        for text in (flag.name, *flag.aliases)
    ]
    negated = [
        _LongSpelling(f"{_NEGATION}{flag.name[2:]}", flag, negated=True)
        for flag in facts.flags
        if flag.arity is Arity.SWITCH
    ]
    return sorted(plain + negated, key=_spelling_of)


def _spelling_of(spelling: _LongSpelling) -> str:
    return spelling.text


def _is_dotted(flag: Flag) -> bool:
    return bool(_spelled(flag.spelling).keys)


def _counting(written: Sequence[Flag]) -> dict[str, Flag]:
    """The last of each flag counts; dotted ones are merged by spelling and come last of all."""
    counting = {flag.name: flag for flag in written if not _is_dotted(flag)}
    documents: dict[str, dict[str, Any]] = {}
    for flag in filter(_is_dotted, written):
        document = documents.setdefault(_spelled(flag.spelling).name, {})
        _set(document, flag.values[0].split("."), flag.values[1])
        counting[flag.name] = flag
    for name, flag in counting.items():
        if _is_dotted(flag):
            value = json.dumps(documents[_spelled(flag.spelling).name], separators=(",", ":"))
            counting[name] = replace(flag, values=(value,))
    return counting


def _set(document: dict[str, Any], keys: list[str], text: str) -> None:
    """Set one key of a document, as `--flag.a.b value` means it; `b+` adds to a list."""
    *sections, last = keys
    for key in sections:
        inner = document.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = document[key] = {}
        document = inner
    if last.endswith("+"):
        listed = document.get(last[:-1])
        if not isinstance(listed, list):
            listed = document[last[:-1]] = []
        listed += text.split(",")
    else:
        document[last] = _dotted_value(text)


def _dotted_value(text: str) -> Any:
    """JSON, a number with a suffix, or the text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        number = read_number(text)
        return text if number is None else number
