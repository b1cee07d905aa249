import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import Fault
from proxy.gates.json_prefix import Finding, Limits, scan
from proxy.gates.strict_reading import Document, read_answer, read_document
from proxy.wire.reply import Choice

LIMITS = Limits(max_depth=3, max_bytes=100, max_whitespace_run=10, max_integer_digits=20)


def _fault_of(text: str, limits: Limits = LIMITS) -> Fault | None:
    reading = read_document(text, limits)
    return reading.fault if isinstance(reading, Finding) else None


def _answer(
    content: str | None, reasoning: str = "", finish_reason: str = "stop"
) -> Document | Finding:
    choice = Choice(0, content, reasoning=reasoning, finish_reason=finish_reason)
    return read_answer(choice, LIMITS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"b": 1, "a": [true, null]}', {"b": 1, "a": [True, None]}),
        (' "\\u00fc\\ud83d\\ude00" ', "ü😀"),
        ("12345678901234567890", 12345678901234567890),
        ("1.0", 1.0),
        ('["' + " " * 30 + '"]', [" " * 30]),
        ('["' + "1" * 30 + '"]', ["1" * 30]),
        ('"ü"', "ü"),
        ('{"\\u0022": "\\"\\u0022"}', {'"': '""'}),
        ('{"a": {"b": 1}, "b": {"a": 1}}', {"a": {"b": 1}, "b": {"a": 1}}),
        ("-0", 0),
        ("[[1], [2], [3], [[]]]", [[1], [2], [3], [[]]]),
        ('"[[[[{{{{"', "[[[[{{{{"),
    ],
)
def test_strict_document_is_read(text: str, value: object) -> None:
    assert read_document(text, LIMITS) == Document(value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{{"a": 1}', Fault.LEADING_JUNK),
        ('{"a": 1}}', Fault.TRAILING_JUNK),
        ('{"a": 1, "a": 1}', Fault.DUPLICATE_KEY),
        ('{"a": "\\u0022\\u0022", "a": 1}', Fault.DUPLICATE_KEY),
        ('{"a": 1, "\\u0061": 1}', Fault.DUPLICATE_KEY),
        ('{"": "\\"", "": 1}', Fault.DUPLICATE_KEY),
        ("[NaN]", Fault.NOT_FINITE),
        ("[1e999]", Fault.NOT_FINITE),
        ('"\\ud83d"', Fault.BAD_STRING),
        ('"\ud83d"', Fault.BAD_STRING),
        ('"a\nb"', Fault.BAD_STRING),
        ("[[[[]]]]", Fault.TOO_DEEP),
        ('[{"a": {"b": []}}]', Fault.TOO_DEEP),
        (f'"{"x" * 99}"', Fault.TOO_LARGE),
        (f'"{"ü" * 50}"', Fault.TOO_LARGE),
        ("[" + " " * 11 + "]", Fault.WHITESPACE_RUNAWAY),
        ("[" + " \t\n\r" * 4, Fault.WHITESPACE_RUNAWAY),
        ("[" + "1" * 21 + "]", Fault.NUMBER_RUNAWAY),
        ("[1234567890.123456789012345678901]", Fault.NUMBER_RUNAWAY),
        ("[1,", Fault.UNFINISHED),
        ("[1,]", Fault.NOT_JSON),
    ],
)
def test_fault_is_named(text: str, fault: Fault) -> None:
    assert _fault_of(text) is fault


def test_depth_beyond_the_stack_is_too_deep() -> None:
    depth = 100_000

    assert _fault_of("[" * depth + "]" * depth, Limits(max_depth=depth)) is Fault.TOO_DEEP


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_blank_content_is_empty(content: str | None) -> None:
    reading = _answer(content)

    assert isinstance(reading, Finding)
    assert reading.fault is Fault.EMPTY_CONTENT


@pytest.mark.parametrize(
    ("content", "reasoning", "finish_reason", "fault"),
    [
        pytest.param(None, ' {"a": 1}\n', "stop", Fault.IN_REASONING, id="in-reasoning"),
        pytest.param("", '{"a": 1}', "length", Fault.IN_REASONING, id="in-reasoning-at-the-limit"),
        pytest.param("", 'So: {"a": 1}', "stop", Fault.EMPTY_CONTENT, id="prose-in-reasoning"),
        pytest.param("", "Let me", "length", Fault.TRUNCATED, id="limit-while-thinking"),
        pytest.param("\n" * 11, "", "length", Fault.WHITESPACE_RUNAWAY, id="only-blanks"),
        pytest.param('{"a": "x', "", "length", Fault.TRUNCATED, id="cut-in-a-string"),
        pytest.param('{"a": "x', "", "stop", Fault.UNFINISHED, id="stopped-in-a-string"),
        pytest.param('{"a":' + " " * 11, "", "length", Fault.WHITESPACE_RUNAWAY, id="blanks"),
        pytest.param("[" + "1" * 21, "", "length", Fault.NUMBER_RUNAWAY, id="digits"),
        pytest.param("12", "", "length", Fault.TRUNCATED, id="perhaps-half-a-number"),
        pytest.param('{"a": 1}}', "", "length", Fault.TRAILING_JUNK, id="broken-before-the-limit"),
    ],
)
def test_missing_document_is_classed_by_its_cause(
    content: str | None, reasoning: str, finish_reason: str, fault: Fault
) -> None:
    reading = _answer(content, reasoning, finish_reason)

    assert isinstance(reading, Finding)
    assert reading.fault is fault


def test_complete_document_at_the_token_limit_is_read() -> None:
    assert _answer('{"a": 1}', finish_reason="length") == Document({"a": 1})


@given(
    text=st.text('{}[]":,0123456789.eE+-\\udDcC8 \ntruefalsn', max_size=12)
    | st.from_regex(r'\A\{"a":(1|"\\ud83d(\\ude00)?"|NaN|1e999|\[1,2\]),"(a|b)":1 {0,12}\}\Z')
)
@settings(deadline=None, max_examples=300)
def test_fast_reading_accepts_what_the_scan_accepts(text: str) -> None:
    finding = scan(text, LIMITS)

    reading = read_document(text, LIMITS)

    assert reading == (finding or Document(json.loads(text)))


NUMBERS = st.from_regex(
    r"\A-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE](\+?[0-9]{1,2}|-[0-9]{1,3}))?\Z"
)


@given(text=NUMBERS | st.floats(allow_nan=False, allow_infinity=False).map(repr))
@settings(deadline=None, max_examples=300)
def test_numbers_are_those_of_the_standard_library(text: str) -> None:
    reading = read_document(text, LIMITS)

    assert isinstance(reading, Document)
    assert repr(reading.value) == repr(json.loads(text))


@given(
    members=st.lists(st.tuples(st.text('ab"\nü', max_size=3), st.text('ab"ü', max_size=3))),
    escapes=st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_keys_that_repeat_are_found_whatever_is_escaped(
    members: list[tuple[str, str]], *, escapes: bool
) -> None:
    spelled = [
        f"{json.dumps(key, ensure_ascii=escapes)}: {json.dumps(value, ensure_ascii=escapes)}"
        for key, value in members
    ]
    text = "{" + ", ".join(spelled) + "}"
    text = text.replace('\\"', "\\u0022") if escapes else text

    reading = read_document(text, Limits())

    assert isinstance(reading, Document) is (len(dict(members)) == len(members))
