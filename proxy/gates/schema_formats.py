"""The names of JSON Schema's `format` that a policy may have asserted, and what each demands.

Only formats that a few lines or jsonschema's own checker decide in linear time; the draft changes
nothing about them.
"""

import re
from enum import StrEnum
from typing import Final

from jsonschema import FormatChecker

_JSONSCHEMA: Final = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))
_TIME: Final = re.compile(
    r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII | re.IGNORECASE,
)
_DATE_CHARACTERS: Final = len("2026-01-31")
_LEAP_SECOND: Final = "60"
_MINUTES_OF_A_DAY: Final = 1440


class TextFormat(StrEnum):
    """Formats that can be asserted. `time` and `date-time` are RFC 3339's, with their offset."""

    DATE = "date"
    TIME = "time"
    DATE_TIME = "date-time"
    EMAIL = "email"
    IPV4 = "ipv4"
    IPV6 = "ipv6"
    UUID = "uuid"


def conforms(text: str, text_format: TextFormat) -> bool:
    """Whether a text is one of this format."""
    if text_format is TextFormat.TIME:
        return _is_time(text)
    if text_format is TextFormat.DATE_TIME:
        return _is_date_time(text)
    return _JSONSCHEMA.conforms(text, text_format)


def _is_date_time(text: str) -> bool:
    day, separator = text[:_DATE_CHARACTERS], text[_DATE_CHARACTERS : _DATE_CHARACTERS + 1]
    return (
        separator in ("T", "t")
        and _JSONSCHEMA.conforms(day, "date")
        and _is_time(text[_DATE_CHARACTERS + 1 :])
    )


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second, sign, offset_hour, offset_minute = found.groups("0")
    if second != _LEAP_SECOND:
        return True
    offset = int(offset_hour) * 60 + int(offset_minute)
    utc = int(hour) * 60 + int(minute) + (offset if sign == "-" else -offset)
    return utc % _MINUTES_OF_A_DAY == _MINUTES_OF_A_DAY - 1
