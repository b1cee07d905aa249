import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_floor import GraphemeFloor, WordFloor
from proxy.gates.text_markdown import MarkdownText
from proxy.gates.text_markdown_floor import MarkdownFloor
from proxy.gates.text_units import TextMeter, Unit, whole

METER = TextMeter()
STRIP = MarkdownText().strip
PIECES = ["Wort", "a ", " ", "\n", "\n\n", "*", "**", "_", "`", "```", "~~~", "[", "]", "(", ")"]
PIECES += ["!", "|", "- ", "1. ", "> ", "# ", "<b>", "<!--", "-->", "&amp;", "&", ";", "\\", "    "]
PIECES += ["[x]: y", "---", "===", "é", "\u0301", "图书馆", "http://a.b", ":", "<", "2", "."]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=40)


def _seen(pieces: list[str]) -> list[str]:
    reader = MarkdownFloor()
    return [reader.feed(piece) for piece in pieces]


@given(MARKDOWN)
def test_characters_never_run_ahead_of_what_is_left_in_the_end(pieces: list[str]) -> None:
    floor = GraphemeFloor(METER, joins_blanks=True)

    floors = [floor.feed(seen) for seen in _seen(pieces)]

    left = METER.count(STRIP(whole("".join(pieces))), Unit.GRAPHEMES)
    assert max(floors, default=0) <= left


@given(MARKDOWN)
def test_words_never_run_ahead_of_what_is_left_in_the_end(pieces: list[str]) -> None:
    floor = WordFloor()

    floors = [floor.feed(seen) for seen in _seen(pieces)]

    assert max(floors, default=0) <= METER.count(STRIP("".join(pieces)), Unit.WORDS)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Ein **fetter** Text. ", "Ein fetter Text. "),
        ("1. eins\n- zwei\n> # drei ", "eins zwei drei "),
        ("da [Link](x y) und\nweiter\n\nneu ", "da neu "),
        ("a | b\n\nc ", "a c "),
        ("```python x\ny = 1\n``` ", "y 1 "),
        ("A&amp;B C&D ", "AB C "),
        ("vor<b>nach immer\n\nnie ", "vor "),
        ("3 < 4 da ", "3 < 4 da "),
        ("offen", ""),
    ],
    ids=["emphasis", "lists", "link", "table", "fence", "entity", "tag", "less", "open_word"],
)
def test_only_what_is_certain_is_seen(text: str, seen: str) -> None:
    assert "".join(_seen(list(text))) == seen


def test_word_beyond_measure_ends_the_watching() -> None:
    assert "".join(_seen(["a", "x" * 2000, " b c "])) == ""
