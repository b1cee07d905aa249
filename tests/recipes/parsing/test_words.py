import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.parsing.words import Note, Oddity, Word, split_script


def words_of(text: str) -> list[list[str]]:
    return [[word.text for word in command] for command in split_script(text).commands]


def noted(text: str) -> list[tuple[Oddity, str]]:
    """Each oddity with what stands at its offset."""
    return [(note.oddity, text[note.offset :][:3]) for note in split_script(text).notes]


def test_continued_lines_are_one_command() -> None:
    script = split_script("vllm serve m \\\n  --port 1 \\\n  -tp 2\n")

    assert script.notes == ()
    assert script.commands == (
        (
            Word("vllm", 0),
            Word("serve", 5),
            Word("m", 11),
            Word("--port", 17),
            Word("1", 24),
            Word("-tp", 30),
            Word("2", 34),
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("""a '{"b": 1}'""", [["a", '{"b": 1}']], id="single quotes"),
        pytest.param('a "b \\" \\$c \\d"', [["a", 'b " $c \\d']], id="double quotes"),
        pytest.param("a b\\ c", [["a", "b c"]], id="escaped blank"),
        pytest.param("a 'b'\"c\"d", [["a", "bcd"]], id="joined parts"),
        pytest.param("a '' b", [["a", "", "b"]], id="empty word"),
        pytest.param('a "b\\\nc"', [["a", "bc"]], id="continued inside quotes"),
        pytest.param("a 1\\\n--b 2", [["a", "1--b", "2"]], id="continued inside a word"),
        pytest.param("a 1\\\r\n --b", [["a", "1", "--b"]], id="continued behind a word"),
        pytest.param("a\nb", [["a"], ["b"]], id="two lines, two commands"),
        pytest.param("a; b && c | d", [["a"], ["b"], ["c"], ["d"]], id="separators"),
        pytest.param("a # not --b\n", [["a"]], id="comment"),
        pytest.param("a b#c", [["a", "b#c"]], id="no comment inside a word"),
        pytest.param("a --b \\", [["a", "--b"]], id="backslash at the end"),
        pytest.param("a \\\r\n --b\r\n", [["a", "--b"]], id="lines end in CRLF"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_words_are_those_of_a_shell(text: str, expected: list[list[str]]) -> None:
    assert words_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a \\ \n --b", [(Oddity.BLANK_AFTER_BACKSLASH, " \n ")], id="blank behind"),
        pytest.param("a \n --b c \n--d", [(Oddity.MISSING_CONTINUATION, "\n -")] * 1, id="lost"),
        pytest.param("a 'b", [(Oddity.OPEN_QUOTE, "'b")], id="open single quote"),
        pytest.param('a "b', [(Oddity.OPEN_QUOTE, '"b')], id="open double quote"),
        pytest.param("a; b", [(Oddity.SEPARATOR, "; b")], id="separator"),
        pytest.param("a > /b", [(Oddity.REDIRECTION, "> /")], id="redirection"),
        pytest.param('a "$(b)"', [(Oddity.SUBSTITUTION, "$(b")], id="substitution"),
        pytest.param(
            "a `b`", [(Oddity.SUBSTITUTION, "`b`"), (Oddity.SUBSTITUTION, "`")], id="tick"
        ),
        pytest.param(
            "a ${B:-c} $D", [(Oddity.VARIABLE, "${B"), (Oddity.VARIABLE, "$D")], id="names"
        ),
        pytest.param("a $'b'", [(Oddity.SHELL_QUOTE, "$'b")], id="quote of bash"),
        pytest.param("a # b", [(Oddity.COMMENT, "# b")], id="comment"),
        pytest.param("a '$(b) `c` ; > #' 1$", [], id="none of them in single quotes"),
    ],
)
def test_what_a_shell_would_do_beyond_is_noted(
    text: str, expected: list[tuple[Oddity, str]]
) -> None:
    assert noted(text)[: len(expected)] == expected
    assert bool(noted(text)) == bool(expected)


def test_lines_that_lost_their_backslash_are_one_command() -> None:
    text = "vllm serve m \n  --port 1 \n\n  -tp 2\n"

    script = split_script(text)

    assert words_of(text) == [["vllm", "serve", "m", "--port", "1", "-tp", "2"]]
    assert script.notes == (
        Note(Oddity.MISSING_CONTINUATION, 13, "vllm serve m"),
        Note(Oddity.MISSING_CONTINUATION, 25, "--port 1"),
    )


@given(st.lists(st.text(alphabet="ab\"'\\ $`;|&<>#\n(){}", max_size=8), min_size=1, max_size=6))
def test_quoted_words_come_back(words: list[str]) -> None:
    script = split_script(shlex.join(["x", *words]))

    assert [[word.text for word in command] for command in script.commands] == [["x", *words]]
    assert script.notes == ()


@given(st.text(alphabet="ab \"'\\\n", max_size=40))
def test_plain_text_is_split_as_the_standard_library_does(text: str) -> None:
    try:
        expected = shlex.split(text.replace("\\\n", ""))
    except ValueError:
        expected = []
    script = split_script(text)

    is_odd = script.notes or any(character in text for character in "\\\n")
    assert is_odd or [word.text for command in script.commands for word in command] == expected


@given(st.text(max_size=200))
def test_any_text_is_split(text: str) -> None:
    script = split_script(text)

    assert all(command for command in script.commands)
    assert all(0 <= note.offset <= len(text) for note in script.notes)
