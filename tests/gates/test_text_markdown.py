import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_markdown import MarkdownText

STRIP = MarkdownText().strip
MARKDOWN = st.lists(
    st.sampled_from(
        [
            "a",
            "Wort ",
            "*",
            "**",
            "_",
            "`",
            "```\n",
            "[",
            "](",
            ")",
            "!",
            "\n",
            "\n\n",
            "- ",
            "# ",
            "> ",
            "1. ",
            "|",
            "<b>",
            "&amp;",
            "~~",
            "\\",
            "[x]: y\n",
            "    ",
            "---\n",
        ]
    ),
    max_size=30,
).map("".join)


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        (
            "Ein **fetter**, *schräger* und ~~falscher~~ Text",
            "Ein fetter, schräger und falscher Text",
        ),
        ("# Titel #\n\nText", "Titel\n\nText"),
        ('[Link](https://a.example/b_c "Titel") da', "Link da"),
        ("[Link][1] da\n\n[1]: https://a.example", "Link da"),
        ("vor ![Bild](a.png) nach", "vor  nach"),
        ("<https://a.example>", "https://a.example"),
        ("- eins\n- zwei\n  1. drei", "eins\n\nzwei\n\ndrei"),
        ("> Zitat\n> weiter", "Zitat\nweiter"),
        ("`a * b` und\n\n```python\nx = 1\n```", "a * b und\n\nx = 1"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b\n\n1 2"),
        ("snake_case \\* &amp; <b>HTML</b>", "snake_case * & HTML"),
        ("<div>\nBlock\n</div>", "Block"),
        ("eins  \nzwei\n\n***", "eins\nzwei"),
        ("a < b", "a < b"),
    ],
    ids=[
        "emphasis",
        "heading",
        "link",
        "reference",
        "image",
        "autolink",
        "list",
        "quote",
        "code",
        "table",
        "escapes",
        "html",
        "breaks",
        "less",
    ],
)
def test_only_what_a_reader_sees_is_left(markdown: str, seen: str) -> None:
    assert STRIP(markdown) == seen


@given(MARKDOWN)
def test_nothing_grows(markdown: str) -> None:
    assert len(STRIP(markdown)) <= len(markdown)
