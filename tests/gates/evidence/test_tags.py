import re

import pytest

from proxy.gates.evidence.tags import NeverClosed, tagged_spans

ENDS = re.compile(r"<(/?)source(\s[^<>]*)?(?<!/)>", re.IGNORECASE)
FENCED = "```xml\n<source>1.8</source>\n```\n"


def blocks(text: str) -> list[str]:
    return [text[begin:end] for _, begin, end, _ in tagged_spans(text, ENDS)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Say it: <source>a</source>", ["a"], id="in a line"),
        pytest.param("<source>a</source><SOURCE id='2'>b</SOURCE>", ["a", "b"], id="two"),
        pytest.param("<source>a<source>b</source>c", ["a<source>b"], id="one in another"),
        pytest.param(FENCED + "<source>a</source>", ["a"], id="behind code"),
        pytest.param(
            "<source>```\na</source>\n<source>b\n```</source>", ["```\na", "b\n```"], id="cut"
        ),
        pytest.param("```\nx\n<source>a</source>", ["a"], id="fence that is never closed"),
        pytest.param("~~~\nx\n~~~\n<source>a</source>\n~~~\nx\n~~~", ["a"], id="between code"),
        pytest.param(FENCED * 2, [], id="code alone"),
        pytest.param("Close the <source> tag.", [], id="mention"),
        pytest.param("`<source>` is a tag.", [], id="mention in code"),
        pytest.param("The <source> tag: <source>a</source>", ["a"], id="mention before it"),
        pytest.param("<video><source src='a.mp4'></video>", [], id="html"),
        pytest.param("</source> alone", [], id="closing alone"),
        pytest.param("<source/>", [], id="empty"),
    ],
)
def test_blocks_are_found_among_code_and_mentions(text: str, found: list[str]) -> None:
    assert blocks(text) == found


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("<source>Ulm", 0),
        ("Sum up: <source>Ulm", 8),
        ("Sum up: <source>\nUlm", 8),
        ("a\n  <source> Ulm", 4),
        ("<source>a</source> and <source>b", 23),
    ],
)
def test_block_without_an_end_is_told_with_its_beginning(text: str, at: int) -> None:
    with pytest.raises(NeverClosed) as caught:
        blocks(text)

    assert caught.value.at == at


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a <source> " * 100_000, 0),
        ("```\n<source>a</source>\n" * 40_000, 20_000),
        ("<source>a</source>\n````\n" * 40_000, 20_000),
        (("`" * 500 + "\n") * 2_000 + "<source>a</source>", 1),
    ],
    ids=["mentions", "fences before", "fences behind", "long fences"],
)
def test_much_of_it_is_read_in_linear_time(text: str, count: int) -> None:
    """The test's time limit is the bound, too: what is quadratic here takes minutes."""
    assert blocks(text) == ["a"] * count
