"""The words of JSON as regular expressions; possessive, so none of them backtracks.

`*_BEGUN` match the longest beginning of a token that more text could complete.
"""

import re

_HEX = "[0-9a-fA-F]"
BLANKS = re.compile(r"[ \t\n\r]*+")
STRING_BODY = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]++|\\(?:["\\/bfnrt]|u(?:'
    rf"[0-9a-cA-CefEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}"
    rf"|[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})))*+"
)
ESCAPE_BEGUN = re.compile(
    rf"\\(?:u(?:[0-9a-cA-CefEF]{_HEX}{{0,3}}|[dD](?:[0-7]{_HEX}{{0,2}}"
    rf"|[89abAB](?:{_HEX}(?:{_HEX}(?:\\(?:u(?:[dD](?:[c-fC-F]{_HEX}{{0,2}})?)?)?)?)?)?)?)?)?"
)
NUMBER_BEGUN = re.compile(
    r"-?+(?:(?:0|[1-9][0-9]*+)"
    r"(?:\.(?:[0-9]++(?:[eE][-+]?+[0-9]*+)?+)?+|[eE][-+]?+[0-9]*+)?+)?+"
)
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
DIGITS = re.compile(r"[0-9]+")

# Shortcuts over plain text that no limit can forbid: short numbers, few blanks, whole strings.
FEW_BLANKS, FEW_DIGITS = 8, 15
_B = rf"[ \t\n\r]{{0,{FEW_BLANKS}}}+"
_PLAIN_KEY = r'"[^"\\\x00-\x1f\ud800-\udfff]*+"'
_PLAIN = (
    rf'(?:"{STRING_BODY.pattern}"|'
    rf"-?+(?:0|[1-9][0-9]{{0,{FEW_DIGITS - 1}}}+)"
    rf"(?:\.[0-9]{{1,{FEW_DIGITS}}}+)?+|true|false|null){_B},"
)
PLAIN_ITEMS = re.compile(rf"{_PLAIN}(?:{_B}{_PLAIN})*+")
PLAIN_MEMBER = re.compile(rf"({_PLAIN_KEY}){_B}:({_B}{_PLAIN})?+")
COLON = re.compile(rf':(?:{_B}("))?+')
NEXT_KEY = re.compile(rf',{_B}"')
WORDS = {"t": "true", "f": "false", "n": "null", "N": "NaN", "I": "Infinity"}
NOT_FINITE = ("NaN", "Infinity")
