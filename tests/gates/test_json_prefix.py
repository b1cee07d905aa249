import json
from typing import Any, Never

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.errors import Fault
from proxy.gates.json_prefix import Finding, Limits, PrefixReader, scan

LIMITS = Limits(max_depth=4, max_bytes=200, max_whitespace_run=12, max_integer_digits=20)
TIGHT = Limits(max_depth=3, max_bytes=60, max_whitespace_run=3, max_integer_digits=5)

BROKEN = [
    pytest.param('{{"a": 1}', Fault.LEADING_JUNK, 1, id="doubled-brace"),
    pytest.param('{{ "a": 1}', Fault.LEADING_JUNK, 1, id="doubled-brace-then-blank"),
    pytest.param('{ \n{"a": 1}', Fault.LEADING_JUNK, 3, id="doubled-brace-after-blanks"),
    pytest.param('{"{"a": 1}', Fault.LEADING_JUNK, 4, id="doubled-brace-and-quote"),
    pytest.param('\n\n{"{"a": 1}', Fault.LEADING_JUNK, 6, id="doubled-after-blank-line"),
    pytest.param('{"city{"city": "Ulm"}', Fault.LEADING_JUNK, 8, id="doubled-key"),
    pytest.param('{"status""status":"ok"}', Fault.LEADING_JUNK, 9, id="key-twice"),
    pytest.param('("a":1}', Fault.LEADING_JUNK, 0, id="bracket-instead-of-brace"),
    pytest.param('Here you are: {"a":1}', Fault.LEADING_JUNK, 0, id="prose"),
    pytest.param("Nothing", Fault.LEADING_JUNK, 0, id="prose-like-nan"),
    pytest.param("nothing", Fault.LEADING_JUNK, 1, id="prose-like-null"),
    pytest.param("- item", Fault.LEADING_JUNK, 1, id="list-of-prose"),
    pytest.param('<think>\n</think>{"a":1}', Fault.LEADING_JUNK, 0, id="think-tag"),
    pytest.param('```json\n{"a":1}\n```', Fault.LEADING_JUNK, 0, id="fence"),
    pytest.param('\ufeff{"a":1}', Fault.LEADING_JUNK, 0, id="byte-order-mark"),
    pytest.param('\u00a0{"a":1}', Fault.LEADING_JUNK, 0, id="blank-that-json-does-not-know"),
    pytest.param('{"a":1}}', Fault.TRAILING_JUNK, 7, id="brace-too-many"),
    pytest.param('{"a":1} Hope it helps', Fault.TRAILING_JUNK, 8, id="prose-after"),
    pytest.param('{"a":1}{"a":1}', Fault.TRAILING_JUNK, 7, id="second-document"),
    pytest.param("true story", Fault.TRAILING_JUNK, 5, id="prose-after-a-word"),
    pytest.param("12 apples", Fault.TRAILING_JUNK, 3, id="prose-after-a-number"),
    pytest.param('["\\x41"]', Fault.BAD_STRING, 3, id="unknown-escape"),
    pytest.param('["\\u00g0"]', Fault.BAD_STRING, 6, id="escape-without-hex"),
    pytest.param('["a\nb"]', Fault.BAD_STRING, 3, id="raw-line-end"),
    pytest.param('["a\x00"]', Fault.BAD_STRING, 3, id="raw-nul"),
    pytest.param('["\\ud83d"]', Fault.BAD_STRING, 8, id="escaped-high-half"),
    pytest.param('["\\ud83d\\u0041"]', Fault.BAD_STRING, 10, id="high-half-then-letter"),
    pytest.param('["\\ude00"]', Fault.BAD_STRING, 5, id="escaped-low-half"),
    pytest.param('["\ud83d"]', Fault.BAD_STRING, 2, id="raw-half"),
    pytest.param('{"a\\q": 1}', Fault.BAD_STRING, 4, id="bad-escape-in-a-key"),
    pytest.param('{"a":1,"a":2}', Fault.DUPLICATE_KEY, 9, id="same-key"),
    pytest.param('{"a":1,"\\u0061":2}', Fault.DUPLICATE_KEY, 14, id="same-key-escaped"),
    pytest.param('{"b":{"a":1,"c":[],"a":2}}', Fault.DUPLICATE_KEY, 21, id="same-key-inside"),
    pytest.param('{"a":NaN}', Fault.NOT_FINITE, 5, id="nan"),
    pytest.param("[Infinity]", Fault.NOT_FINITE, 1, id="infinity"),
    pytest.param("[-Infinity]", Fault.NOT_FINITE, 2, id="minus-infinity"),
    pytest.param("NaN", Fault.NOT_FINITE, 0, id="nan-alone"),
    pytest.param("[1e999]", Fault.NOT_FINITE, 6, id="beyond-a-double"),
    pytest.param("-1E+999", Fault.NOT_FINITE, 7, id="beyond-a-double-alone"),
    pytest.param("[[[[[", Fault.TOO_DEEP, 4, id="too-deep"),
    pytest.param('{"a":[{"a":[{', Fault.TOO_DEEP, 12, id="too-deep-mixed"),
    pytest.param(f'["{"x" * 300}"]', Fault.TOO_LARGE, 200, id="too-large"),
    pytest.param(f'["{"ü" * 300}"]', Fault.TOO_LARGE, 101, id="too-large-in-bytes"),
    pytest.param(f"[{'1' * 21}]", Fault.NUMBER_RUNAWAY, 21, id="long-integer"),
    pytest.param(f"[0.{'1' * 21}]", Fault.NUMBER_RUNAWAY, 23, id="long-fraction"),
    pytest.param(f"-1e{'0' * 30}", Fault.NUMBER_RUNAWAY, 23, id="long-exponent"),
    pytest.param('{"a":1,' + " \n" * 10, Fault.WHITESPACE_RUNAWAY, 19, id="blanks-inside"),
    pytest.param(" " * 13 + "{", Fault.WHITESPACE_RUNAWAY, 12, id="blanks-before"),
    pytest.param("{}" + "\t" * 13, Fault.WHITESPACE_RUNAWAY, 14, id="blanks-after"),
    pytest.param('{"a" 1}', Fault.NOT_JSON, 5, id="no-colon"),
    pytest.param('{"a":1,"b{" 2}', Fault.NOT_JSON, 12, id="no-colon-in-second-member"),
    pytest.param('[{"a"{', Fault.NOT_JSON, 5, id="no-colon-inside"),
    pytest.param('{"a":{{', Fault.NOT_JSON, 6, id="doubled-brace-inside"),
    pytest.param('{"a":1 "b"', Fault.NOT_JSON, 7, id="no-comma-in-object"),
    pytest.param("[1 2]", Fault.NOT_JSON, 3, id="no-comma-in-array"),
    pytest.param("[1}", Fault.NOT_JSON, 2, id="array-closed-as-object"),
    pytest.param('{"a":1]', Fault.NOT_JSON, 6, id="object-closed-as-array"),
    pytest.param("[1,]", Fault.NOT_JSON, 3, id="comma-at-array-end"),
    pytest.param('{"a":1,}', Fault.NOT_JSON, 7, id="comma-at-object-end"),
    pytest.param("{'a':1}", Fault.NOT_JSON, 1, id="single-quotes"),
    pytest.param("{a:1}", Fault.NOT_JSON, 1, id="bare-key"),
    pytest.param("[True]", Fault.NOT_JSON, 1, id="python-word"),
    pytest.param("[None]", Fault.NOT_JSON, 1, id="python-none"),
    pytest.param("[nul]", Fault.NOT_JSON, 4, id="cut-word"),
    pytest.param("[-]", Fault.NOT_JSON, 2, id="minus-alone"),
    pytest.param("[-Inf]", Fault.NOT_JSON, 2, id="minus-inf"),
    pytest.param("[01]", Fault.NOT_JSON, 2, id="leading-zero"),
    pytest.param("01", Fault.NOT_JSON, 1, id="leading-zero-alone"),
    pytest.param("[1.]", Fault.NOT_JSON, 3, id="point-without-digits"),
    pytest.param("[1e]", Fault.NOT_JSON, 3, id="exponent-without-digits"),
    pytest.param("[+1]", Fault.NOT_JSON, 1, id="plus-sign"),
    pytest.param("[1]//", Fault.TRAILING_JUNK, 3, id="comment-after"),
    pytest.param("[/**/]", Fault.NOT_JSON, 1, id="comment-inside"),
]

SOUND = [
    pytest.param('{"a":1}', id="object"),
    pytest.param(' \n{ "a" : [ 1 , 2.0e-3, -0, null, true,false ] }\n', id="blanks"),
    pytest.param('{"b":1,"a":{"b":1}}', id="same-key-in-another-object"),
    pytest.param('["  \\t                          "]', id="blanks-in-a-string"),
    pytest.param('["12345678901234567890123456789012345"]', id="digits-in-a-string"),
    pytest.param('["\\ud83d\\ude00\\u00fc\\"\\\\\\/\\b\\f\\n\\r\\t😀"]', id="escapes"),
    pytest.param('{"a{":1,"{":[]}', id="brace-in-a-key"),
    pytest.param('"```json"', id="fence-in-a-string"),
    pytest.param("12345678901234567890", id="integer-beyond-a-double's-precision"),
    pytest.param("[[[[]]]]", id="as-deep-as-allowed"),
    pytest.param(f'"{"x" * 198}"', id="as-large-as-allowed"),
    pytest.param("0", id="zero"),
    pytest.param("-1.5E+10", id="number-alone"),
    pytest.param("null", id="word-alone"),
    pytest.param("{}", id="empty-object"),
    pytest.param("[" + " " * 12 + "]", id="as-many-blanks-as-allowed"),
]


def _read_in(pieces: list[str], limits: Limits) -> Finding | None:
    reader = PrefixReader(limits)
    for piece in pieces:
        reader.feed(piece)
    return reader.finish()


@pytest.mark.parametrize(("text", "fault", "at"), BROKEN)
def test_first_impossible_character_is_found(text: str, fault: Fault, at: int) -> None:
    finding = scan(text, LIMITS)

    assert finding is not None
    assert (finding.fault, finding.at) == (fault, at)
    assert finding.reason


@pytest.mark.parametrize(("text", "fault", "at"), BROKEN)
def test_finding_is_the_same_character_by_character(text: str, fault: Fault, at: int) -> None:
    finding = _read_in(list(text), LIMITS)

    assert finding is not None
    assert (finding.fault, finding.at) == (fault, at)


def test_blanks_between_members_are_counted_where_few_are_allowed() -> None:
    narrow = Limits(max_whitespace_run=2)

    assert scan('{"a":  "x",  "b":  1}', narrow) is None
    assert [scan(text, narrow) for text in ('{"a":   "x"}', '{"a":1,   "b":2}')] == [
        Finding(Fault.WHITESPACE_RUNAWAY, 7, "whitespace runs on for more than 2 characters"),
        Finding(Fault.WHITESPACE_RUNAWAY, 9, "whitespace runs on for more than 2 characters"),
    ]


@pytest.mark.parametrize("piece", ["\u00a0", "\u2028", "\u200b", "ü", "😀", "\x7f"])
def test_string_goes_on_with_any_character_that_json_allows(piece: str) -> None:
    reader = PrefixReader(LIMITS)

    assert [reader.feed(each) for each in ('{"a', piece, '":"', piece, '"}')] == [None] * 5
    assert reader.finish() is None


@pytest.mark.parametrize(
    ("pieces", "at"),
    [(["é" * 99, "éé"], 100), (["é" * 50, "x" * 99, "é"], 150)],
    ids=["odd", "even"],
)
def test_size_is_counted_in_bytes_over_pieces(pieces: list[str], at: int) -> None:
    reader = PrefixReader(LIMITS)

    found = [reader.feed(piece) for piece in ('"', *pieces)]

    too_large = Finding(Fault.TOO_LARGE, at, "it is larger than 200 bytes")
    assert found == [*[None] * len(pieces), too_large]


@pytest.mark.parametrize("text", SOUND)
def test_strict_document_raises_no_alarm(text: str) -> None:
    assert scan(text, LIMITS) is None
    assert _read_in(list(text), LIMITS) is None


@pytest.mark.parametrize("text", SOUND)
def test_no_prefix_of_a_strict_document_raises_an_alarm(text: str) -> None:
    reader = PrefixReader(LIMITS)

    assert [reader.feed(character) for character in text] == [None] * len(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        '{"a',
        '{"a"',
        '{"a":',
        '{"a":1',
        "[1,",
        "tru",
        "-",
        "1.",
        '"\\u00',
        '"\\',
        "[N",
    ],
)
def test_document_that_could_go_on_is_unfinished(text: str) -> None:
    finding = scan(text, LIMITS)

    assert finding is not None
    expected = Fault.NOT_JSON if text.endswith("N") else Fault.UNFINISHED
    assert finding.fault is expected


@pytest.mark.parametrize("text", ["N", "-Inf", "[-I"])
def test_beginning_of_a_word_that_is_no_json_is_not_called_unfinished(text: str) -> None:
    finding = scan(text, LIMITS)

    assert finding is not None
    assert finding.fault in (Fault.LEADING_JUNK, Fault.NOT_JSON)
    assert finding.at == max(text.find("N"), text.find("I"))


def test_finding_is_final() -> None:
    reader = PrefixReader(LIMITS)
    finding = reader.feed("{{")

    assert reader.feed('"a": 1}') is finding
    assert reader.finish() is finding


def test_doubled_brace_is_found_at_its_second_character() -> None:
    reader = PrefixReader(LIMITS)

    assert reader.feed("{") is None
    assert reader.feed("{") is not None


def test_huge_integer_is_exact_and_no_fault() -> None:
    assert scan("9" * 400, Limits(max_integer_digits=400)) is None


def test_depth_costs_no_stack() -> None:
    depth = 100_000

    assert scan("[" * depth + "]" * depth, Limits(max_depth=depth)) is None


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab{\\", max_size=3), inner)
    ),
    max_leaves=12,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    return json.dumps(
        draw(JSON_VALUES),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 2])),
    )


@st.composite
def mutated_documents(draw: st.DrawFn) -> str:
    text = draw(documents())
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 3)))
        insert = draw(
            st.text('{}[]":,\\/u0d89e.-+ \n\ttrN\ud83d', max_size=3)
            | st.sampled_from(["NaN", "1e999", "\\ud83d", "\\ude00", '"a":1,', "      ", "123456"])
        )
        text = text[:begin] + insert + text[end:]
    return text


def _refuse(name: str) -> Never:
    raise ValueError(name)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) != len(members):
        raise ValueError(members)
    return dict(members)


def _finite(text: str) -> float:
    if abs(float(text)) == float("inf"):
        raise ValueError(text)
    return float(text)


def _stdlib_accepts(text: str) -> bool:
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
        json.dumps(value, ensure_ascii=False).encode()
        text.encode()
    except ValueError:
        return False
    return True


@given(text=mutated_documents())
@example('{"a":1,"\\ud83d\\ude00":2}')
@settings(deadline=None, max_examples=300)
def test_reader_agrees_with_the_strict_decoder(text: str) -> None:
    limits = Limits(max_depth=500, max_whitespace_run=5_000, max_integer_digits=4_000)

    assert (scan(text, limits) is None) == _stdlib_accepts(text)


@given(text=mutated_documents(), data=st.data())
@settings(deadline=None, max_examples=300)
def test_any_split_gives_the_same_finding(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    for limits in (LIMITS, TIGHT):
        assert _read_in(pieces, limits) == scan(text, limits)
