import re

import pytest

from proxy.gates.json_tokens import (
    COLON,
    ESCAPE_BEGUN,
    NEXT_KEY,
    NUMBER,
    NUMBER_BEGUN,
    PLAIN_ITEMS,
    PLAIN_MEMBER,
    STRING_BODY,
)


def _matched(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found[0] if found else "nothing"


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("-", "-"),
        ("-0.5e+7,", "-0.5e+7"),
        ("1.", "1."),
        ("1e", "1e"),
        ("012", "0"),
        ("1.e5", "1."),
        ("+1", ""),
    ],
)
def test_longest_beginning_of_a_number_is_matched(text: str, beginning: str) -> None:
    assert _matched(NUMBER_BEGUN, text) == beginning


@pytest.mark.parametrize("text", ["-", "1.", "1e", "01", ".5", "+1", ""])
def test_unfinished_or_malformed_number_is_no_number(text: str) -> None:
    assert NUMBER.fullmatch(text) is None


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("\\", "\\"),
        ("\\u00f", "\\u00f"),
        ("\\ud83d\\ude0", "\\ud83d\\ude0"),
        ("\\ud83dx", "\\ud83d"),
        ("\\udc00", "\\ud"),
        ("\\x41", "\\"),
    ],
)
def test_longest_beginning_of_an_escape_is_matched(text: str, beginning: str) -> None:
    assert _matched(ESCAPE_BEGUN, text) == beginning


def test_string_body_stops_before_what_is_not_plain_or_a_whole_escape() -> None:
    assert _matched(STRING_BODY, 'aü😀\\n\\u00fc\\ud83d\\ude00"') == "aü😀\\n\\u00fc\\ud83d\\ude00"
    assert _matched(STRING_BODY, "a\\ud83d") == "a"
    assert _matched(STRING_BODY, "a\nb") == "a"


def test_plain_items_end_with_a_comma() -> None:
    assert _matched(PLAIN_ITEMS, '1, "a" ,null,[') == '1, "a" ,null,'
    assert _matched(PLAIN_ITEMS, "1e5,2,") == "nothing"
    assert _matched(PLAIN_ITEMS, "1234567890123456,") == "nothing"


def test_plain_member_takes_its_value_only_when_it_is_whole() -> None:
    assert _matched(PLAIN_MEMBER, '"a": 1, "b"') == '"a": 1,'
    assert _matched(PLAIN_MEMBER, '"a": [1]') == '"a":'
    assert _matched(PLAIN_MEMBER, '"\\u0061": 1,') == "nothing"


@pytest.mark.parametrize(
    ("text", "beginning"),
    [(':"a"', ':"'), (': "a"', ': "'), (": 1", ":"), (":" + " " * 9 + '"', ":"), (" :", "nothing")],
)
def test_colon_is_taken_with_the_quote_that_may_follow(text: str, beginning: str) -> None:
    assert _matched(COLON, text) == beginning


@pytest.mark.parametrize(
    ("text", "beginning"),
    [(',"a"', ',"'), (',\n  "a"', ',\n  "'), (", 1", "nothing"), ("," + " " * 9 + '"', "nothing")],
)
def test_next_key_begins_after_few_blanks(text: str, beginning: str) -> None:
    assert _matched(NEXT_KEY, text) == beginning
