"""Patterns that a policy requires or forbids, on RE2: linear time for any pattern and text."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from proxy.gates.option_error import BadOption

_MAX_MEMORY_BYTES: Final = 8 << 20
_LONGEST_PATTERN: Final = 2000
# A boundary beside such a letter looks right and never holds: RE2's \b knows ASCII letters only.
_BLIND_BOUNDARY: Final = re.compile(r"\\b\(*(?:\?[a-z:]+)?[^\W\x00-\x7f]|[^\W\x00-\x7f]\)*\\b")
# Invisible characters inside words, and the soft hyphens of German texts.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def _check_pattern(pattern: str) -> str:
    try:
        compiled = compile_pattern(pattern)
    except re2.error as error:
        told = error.args[0] if error.args else b""
        detail = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        remedy = "write it for RE2, which has no look-around and no back-references"
        raise BadOption(f"is no pattern that RE2 can take: {detail}", remedy) from error
    if _BLIND_BOUNDARY.search(pattern):
        raise BadOption(
            r"never holds: RE2's \b knows the letters a-z only, and it stands beside another",
            r"write (?:^|\PL) before the letter or (?:\PL|$) after it",
        )
    if compiled.search(b"") and compiled.search(b"x") and compiled.search(b"\xc3\xa4 7"):
        raise BadOption("holds for every text", "name what must be there")
    return pattern


def compile_pattern(pattern: str) -> Any:
    """The pattern for UTF-8 bytes. Raises `re2.error`."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MAX_MEMORY_BYTES
    return re2.compile(unicodedata.normalize("NFC", pattern), options)


class Wording(BaseModel):
    """A pattern and why it is there. `in_code` looks into code blocks as well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pattern: Annotated[
        str,
        Field(min_length=1, max_length=_LONGEST_PATTERN, description="In the syntax of RE2."),
        AfterValidator(_check_pattern),
    ]
    reason: Annotated[
        str, Field(min_length=1, description="Told to the client, and to the model in a re-ask.")
    ]
    in_code: Annotated[bool, Field(description="Look into code blocks as well.")] = False


@dataclass(frozen=True, slots=True)
class Haystack:
    """One text as patterns see it: as it came, and without invisible characters if it has any."""

    versions: tuple[bytes, ...]

    @classmethod
    def of(cls, text: str) -> "Haystack":
        composed = unicodedata.normalize("NFC", text)
        plain = composed if composed.isascii() else composed.translate(_INVISIBLE)
        texts = (composed,) if plain == composed else (composed, plain)
        return cls(tuple(each.encode("utf-8", "replace") for each in texts))


@dataclass(frozen=True, slots=True)
class CompiledWording:
    """A wording, ready to be looked for."""

    wording: Wording
    compiled: Any

    @classmethod
    def of(cls, wording: Wording) -> "CompiledWording":
        return cls(wording, compile_pattern(wording.pattern))

    def found_in(self, haystack: Haystack) -> str | None:
        """What matches, or None."""
        for version in haystack.versions:
            match = self.compiled.search(version)
            if match:
                return str(match.group(0).decode("utf-8", "replace"))
        return None


class AnyWording:
    """All of several wordings at once: whether one of them has matched for good in a beginning."""

    def __init__(self, wordings: Sequence[Wording]) -> None:
        """Raises `ValueError` where the wordings together are more than RE2 takes."""
        try:
            self._compiled = compile_pattern("|".join(f"(?:{each.pattern})" for each in wordings))
        except re2.error as error:
            raise ValueError("the forbidden patterns together are too large for RE2") from error

    def has_matched(self, beginning: str) -> bool:
        """Whether the text holds a match that nothing after it can undo.

        A match that touches the end may yet be undone: an end of a word may turn out to be none.
        """
        text = unicodedata.normalize("NFC", beginning).encode("utf-8", "replace")
        match = self._compiled.search(text)
        return match is not None and match.end() < len(text)
