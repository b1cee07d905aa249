"""What one validation may spend, and what it knows of its schema's patterns."""

from collections.abc import Mapping
from typing import Final

from jsonschema import FormatChecker
from jsonschema.exceptions import FormatError
from typing_extensions import override

from proxy.gates.schema_formats import TextFormat, conforms
from proxy.gates.schema_patterns import Pattern

_CHARACTERS_PER_STEP = 256
_NO_FORMATS: Final[frozenset[TextFormat]] = frozenset()


class OutOfSteps(Exception):
    """Applying the schema to this document takes more work than allowed."""


class Run(FormatChecker):
    """One validation: its patterns, what an unchecked pattern taints, and the steps left.

    It rides in the validator's `format_checker`, the one public field that reaches every
    subschema. A `format` that is not in `formats` is an annotation.
    """

    def __init__(
        self,
        patterns: Mapping[str, Pattern | None],
        tainted: frozenset[int],
        steps: int,
        formats: frozenset[TextFormat] = _NO_FORMATS,
    ) -> None:
        super().__init__(formats=())
        self.tainted = tainted
        self._patterns = patterns
        self._steps = steps
        self._formats = formats

    @override
    def check(self, instance: object, format: str) -> None:
        if format in self._formats and isinstance(instance, str):
            self.spend_on_text(instance)
            if not conforms(instance, TextFormat(format)):
                raise FormatError("is another text")

    def spend(self, steps: int) -> None:
        """Pay for work, a step being some microseconds. Raises `OutOfSteps`."""
        self._steps -= steps
        if self._steps < 0:
            raise OutOfSteps

    def spend_on_text(self, text: str) -> None:
        self.spend(1 + len(text) // _CHARACTERS_PER_STEP)

    def may_match(self, pattern: str, text: str) -> bool:
        """Whether the pattern matches, or cannot be checked."""
        self.spend_on_text(text)
        compiled = self._patterns.get(pattern)
        return compiled is None or compiled.search(text)

    def is_checked(self, pattern: str) -> bool:
        return self._patterns.get(pattern) is not None
