import os
from pathlib import Path

import pytest

from proxy.errors import Place
from proxy.yaml_places import MAX_BYTES, MAX_DEPTH, parse_yaml, read_yaml

DOCUMENT = b"""\
# first line
format: 1
attempts:
  max_attempts: 3
  vary: {seed: fresh, min_temperature: 0.3}
models: ["a*", b]
"""


def test_data_is_plain() -> None:
    document = parse_yaml(DOCUMENT, "p.yaml")

    assert document.problems == ()
    assert document.source == DOCUMENT
    assert document.data == {
        "format": 1,
        "attempts": {"max_attempts": 3, "vary": {"seed": "fresh", "min_temperature": 0.3}},
        "models": ["a*", "b"],
    }


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        pytest.param(("format",), (2, 1), (2, 9), id="top key"),
        pytest.param(("attempts", "max_attempts"), (4, 3), (4, 17), id="block mapping"),
        pytest.param(("attempts", "vary", "min_temperature"), (5, 23), (5, 40), id="flow mapping"),
        pytest.param(("models", 1), (6, 16), (6, 16), id="list item"),
        pytest.param(("attempts", "absent", "deeper"), (3, 1), (4, 3), id="nearest ancestor"),
        pytest.param(("absent",), (1, 1), (1, 1), id="whole file"),
    ],
)
def test_every_key_and_value_has_its_place(
    path: tuple[str | int, ...], key: tuple[int, int], value: tuple[int, int]
) -> None:
    places = parse_yaml(DOCUMENT, "p.yaml").places

    assert places.key(path) == Place("p.yaml", *key)
    assert places.value(path) == Place("p.yaml", *value)


@pytest.mark.parametrize(
    ("yaml", "word", "expected"),
    [
        pytest.param("a:\n  b: |\n    one\n    two three\n", "three", (4, 9), id="block"),
        pytest.param("a:\n  b: |2-\n      one\n    two\n", "two", (4, 5), id="block, told indent"),
        pytest.param("a:\n  b: |\n\n    one\n\n    two\n", "two", (6, 5), id="empty lines"),
        pytest.param("a: {b: one two}", "two", (1, 12), id="plain"),
        pytest.param("a: {b: 'one two'}", "two", (1, 13), id="quoted"),
        pytest.param('a: {b: "one\\ttwo"}', "two", (1, 8), id="escapes: where the text begins"),
        pytest.param("a:\n  b: >\n    one\n    two\n", "two", (2, 6), id="folded: the same"),
    ],
)
def test_characters_of_a_text_have_their_places(
    yaml: str, word: str, expected: tuple[int, int]
) -> None:
    document = parse_yaml(yaml.encode(), "p.yaml")
    text = document.data["a"]["b"]

    place = document.places.inside(("a", "b"), text, text.index(word))

    assert document.problems == ()
    assert place == Place("p.yaml", *expected)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_lines_end_where_yaml_ends_them(end: str) -> None:
    document = parse_yaml(f"a: 'x{end}{end}y'\nb: {{c: 1}}".encode(), "p.yaml")

    assert document.places.value(("b", "c")) == Place("p.yaml", 4, 8)
    assert document.places.inside(("a",), document.data["a"], 2) == Place("p.yaml", 1, 4)


def test_columns_count_characters_not_bytes() -> None:
    places = parse_yaml("{é: ü, z: 1}".encode(), "p.yaml").places

    assert places.key(("z",)) == Place("p.yaml", 1, 8)


def test_byte_order_mark_is_no_character() -> None:
    document = parse_yaml(b"\xef\xbb\xbfformat: 1", "p.yaml")

    assert document.data == {"format": 1}
    assert document.places.key(("format",)) == Place("p.yaml", 1, 1)


def test_last_of_repeated_keys_may_count() -> None:
    document = parse_yaml(b"a: 1\nb: 2\na: 3", "p.yaml", last_counts=True)

    assert document.data == {"a": 3, "b": 2}
    assert document.problems == ()
    assert [str(problem) for problem in document.repeated] == [
        "p.yaml:3:1: the key `a` is written twice, first in line 1 (remove one of the two)"
    ]
    assert document.places.value(("a",)) == Place("p.yaml", 3, 4)


def test_bare_date_stays_text() -> None:
    assert parse_yaml(b"created: 2026-10-01", "k.yaml").data == {"created": "2026-10-01"}


@pytest.mark.parametrize(
    ("source", "place", "message", "remedy"),
    [
        pytest.param("", "1:1", "empty", "key: value", id="empty file"),
        pytest.param("# nothing\n", "1:1", "empty", "key: value", id="comments only"),
        pytest.param("a: 1\nb: 2\na: 3", "3:1", "twice, first in line 1", "remove", id="duplicate"),
        pytest.param(
            "a: {b: 1, b: 2}", "1:11", "`b` is written twice", "remove", id="duplicate in flow"
        ),
        pytest.param("a: &x [1]\nb: *x", "2:4", "alias `*x`", "write the value out", id="alias"),
        pytest.param("a: 1\n<<: {b: 2}", "2:1", "merge key", "write the keys out", id="merge key"),
        pytest.param(
            "a: !!python/name:os x", "1:4", "tag `!!python/name:os`", "remove", id="python tag"
        ),
        pytest.param("a: !secret x", "1:4", "tag `!secret`", "remove the tag", id="own tag"),
        pytest.param("a: !secret [x]", "1:4", "tag `!secret`", "remove the tag", id="tag on list"),
        pytest.param("a: !!set {x}", "1:4", "tag `!!set`", "remove the tag", id="set"),
        pytest.param(
            "a: !!map x", "1:4", "tag `!!map`", "remove the tag", id="tag of another kind"
        ),
        pytest.param(
            "a: !!int x", "1:4", "`x` cannot be read as int", "quotes", id="tag against text"
        ),
        pytest.param(
            f"a: {'9' * 5000}", "1:4", "cannot be read as int", "quotes", id="huge number"
        ),
        pytest.param(
            f"a: 0x{'f' * 5000}", "1:4", "cannot be read as int", "quotes", id="huge hexadecimal"
        ),
        pytest.param("1: x", "1:1", "key `1` is not text", 'quotes: "1"', id="number as key"),
        pytest.param("on: x", "1:1", "key `on` is not text", 'quotes: "on"', id="truth as key"),
        pytest.param("[a]: x", "1:1", "a key must be text", "plain name", id="list as key"),
        pytest.param("a:\n\tb: 1", "2:1", "tab", "indent with spaces", id="tab"),
        pytest.param("a: @b", "1:4", "cannot begin with `@`", "quotes", id="reserved character"),
        pytest.param("a: b: c", "1:5", "mapping values", "quotes", id="colon in value"),
        pytest.param(
            "a: [1,\nb: 2", "3:1", "flow sequence", "from p.yaml:1:4 on", id="open bracket"
        ),
        pytest.param(
            "a: 1\n---\nb: 2", "2:1", "more than one document", "remove `---`", id="documents"
        ),
        pytest.param("a: 1\nb: x\x07y", "2:5", "U+0007", "escape", id="control character"),
        pytest.param("a: " + "[" * 40, "1:35", f"more than {MAX_DEPTH}", "brackets", id="too deep"),
        pytest.param("a: " + "[" * 200_000, "1:1003", "nesting", "brackets", id="far too deep"),
    ],
)
def test_bad_document_is_a_problem_with_place_and_remedy(
    source: str, place: str, message: str, remedy: str
) -> None:
    (problem,) = parse_yaml(source.encode(), "p.yaml").problems

    assert str(problem.place) == f"p.yaml:{place}"
    assert message in problem.message
    assert remedy in problem.remedy


def test_every_duplicate_and_bad_key_is_reported() -> None:
    document = parse_yaml(b"a: 1\na: 2\n3: x\nb: !x y\n", "p.yaml")

    assert [problem.place.line for problem in document.problems] == [2, 3, 4]


def test_entity_expansion_is_refused_before_it_grows() -> None:
    levels = ["a0: &a0 [x, x]"]
    levels += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]

    document = parse_yaml("\n".join(levels).encode(), "bomb.yaml")

    assert document.data is None
    assert str(document.problems[0].place) == "bomb.yaml:2:10"


def test_file_that_is_not_utf8_names_line_and_column() -> None:
    (problem,) = parse_yaml(b"a: 1\nb: \xfc", "p.yaml").problems

    assert problem.place == Place("p.yaml", 2, 4)
    assert problem.remedy == "save it as UTF-8"


def test_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(DOCUMENT)

    document = read_yaml(path)

    assert document.data["format"] == 1
    assert document.places.key(("format",)) == Place(str(path), 2, 1)


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_yaml(tmp_path / "absent.yaml").problems

    assert problem.place == Place(str(tmp_path / "absent.yaml"))
    assert problem.message == "there is no such file"
    assert problem.remedy


def test_pipe_is_a_problem_and_nobody_waits_for_its_other_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)

    (problem,) = read_yaml(path).problems

    assert problem.message == "this is no plain file"


def test_device_is_a_problem() -> None:
    (problem,) = read_yaml(Path("/dev/zero")).problems

    assert problem.message == "this is no plain file"


def test_folder_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_yaml(tmp_path).problems

    assert problem.message == "this is a folder, not a file"
    assert problem.remedy


def test_path_that_no_system_opens_is_a_problem() -> None:
    (problem,) = read_yaml(Path("a\0b")).problems

    assert "cannot be read" in problem.message


def test_file_over_the_limit_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))

    (problem,) = read_yaml(path).problems

    assert "larger than 1 MiB" in problem.message
    assert problem.remedy


def test_file_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"a: 1\n".ljust(MAX_BYTES, b"#"))

    assert read_yaml(path).data == {"a": 1}
