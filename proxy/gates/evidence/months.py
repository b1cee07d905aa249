"""The months and weekdays of German and English, by name and by short name."""

from typing import Final

_NAMES: Final = (
    ("januar", "jänner", "january", "jan"),
    ("februar", "feber", "february", "feb"),
    ("märz", "maerz", "march", "mar", "mär", "mrz"),
    ("april", "apr"),
    ("mai", "may"),
    ("juni", "june", "jun"),
    ("juli", "july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("oktober", "october", "okt", "oct"),
    ("november", "nov"),
    ("dezember", "december", "dez", "dec"),
)
_DAYS: Final = (
    ("montag", "monday"),
    ("dienstag", "tuesday"),
    ("mittwoch", "wednesday"),
    ("donnerstag", "thursday"),
    ("freitag", "friday"),
    ("samstag", "sonnabend", "saturday"),
    ("sonntag", "sunday"),
)

MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names}
WEEKDAYS: Final = {name: number for number, names in enumerate(_DAYS) for name in names}
# Longest first, so that a short name does not end a match early.
MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
WEEKDAY: Final = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
