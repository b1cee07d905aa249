import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.code_mask import CODE, CodeMask


def _masked(*pieces: str) -> str:
    mask = CodeMask()
    return "".join([*(mask.feed(piece) for piece in pieces), mask.finish()])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("a `b` c", "`b`", id="backticks"),
        pytest.param("``b ` c`` d", "``b ` c``", id="two-backticks"),
        pytest.param("a `b\nc", "`b", id="unclosed-until-the-line-ends"),
        pytest.param("`a ~~~ b`", "`a ~~~ b`", id="tildes-in-backticks"),
        pytest.param("```\nb\n```", "```\nb\n```", id="fence"),
        pytest.param("```xml\nb\n", "```xml\nb\n", id="unclosed-fence"),
        pytest.param("~~~\nb\n```\n~~~~\n", "~~~\nb\n```\n~~~~\n", id="tildes"),
        pytest.param("````\nb\n```\nc", "````\nb\n```\nc", id="shorter-fence-does-not-close"),
        pytest.param("```\nb\n```c\nd", "```\nb\n```c\nd", id="word-behind-does-not-close"),
        pytest.param("1. ```\n   b\n   ```\n", "```\n   b\n   ```\n", id="in-a-list"),
        pytest.param("> ```\n> b\n", "```\n> b\n", id="in-a-quotation"),
        pytest.param("```b``` c", "```b```", id="fence-on-one-line"),
        pytest.param("~~b~~ c", "", id="struck-out"),
        pytest.param("a ```b``` c", "```b```", id="three-in-mid-line"),
        pytest.param("```\nb\n```  \nc", "```\nb\n```  \n", id="blanks-behind-close"),
    ],
)
def test_code_is_blanked_out_and_nothing_else(text: str, code: str) -> None:
    begin = text.index(code)
    blank = "".join(character if character == "\n" else CODE for character in code)

    assert _masked(text) == text[:begin] + blank + text[begin + len(code) :]


@given(st.lists(st.text("`~a \n>1.", max_size=6), max_size=8))
def test_cuts_change_nothing(pieces: list[str]) -> None:
    assert _masked(*pieces) == _masked("".join(pieces))
