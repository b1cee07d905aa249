import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_html import HtmlText, strip_html

PIECES = ["<", "p", ">", "</", "<script>", "</script>", "<!--", "-->", "<!", "-", "a", '"', "'"]
PIECES += ["&", "amp;", "&#x41;", " ", "!", "<b x='", "é", "<td>", "<br>", "\n"]
HTML = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        ("Ein <b>fetter</b> Text", "Ein fetter Text"),
        ("<a href=\"x>y\" title='a>b'>Link</a>", "Link"),
        ("a < b und 3<4", "a < b und 3<4"),
        ("Maus &amp; Katze&nbsp;da &lt;b&gt;", "Maus & Katze\u00a0da <b>"),
        ("vor<!-- <b>weg</b> -->nach", "vornach"),
        ("vor<script>if (a<b) '</p>'</SCRIPT>nach", "vornach"),
        ("<style>p {}</style>x<!DOCTYPE html>", "x"),
        ("eins<br>zwei", "eins\nzwei"),
        ("<p>eins</p>\n<p>zwei</p>", "\n\neins\n\nzwei\n\n"),
        ("<tr><td>a</td><td>b</td></tr>", "\na b\n"),
        ("eine\n  Zeile", "eine Zeile"),
        ("vor <b unfertig", "vor "),
        ("AT&T & Co &", "AT&T & Co &"),
    ],
    ids=[
        "inline",
        "quoted",
        "less",
        "entities",
        "comment",
        "script",
        "style",
        "break",
        "paragraphs",
        "cells",
        "source_lines",
        "open_tag",
        "ampersands",
    ],
)
def test_only_what_a_reader_sees_is_left(html: str, seen: str) -> None:
    assert strip_html(html) == seen


@given(HTML)
def test_text_is_the_same_however_it_is_cut_but_for_blanks(html: str) -> None:
    reader = HtmlText()

    seen = "".join(map(reader.feed, html)) + reader.finish()

    assert seen.split() == strip_html(html).split()


@given(HTML)
def test_nothing_grows(html: str) -> None:
    assert len(strip_html(html)) <= len(html)
