import pytest

from proxy.gates.base import Repair, Repaired
from proxy.gates.repairs import openings, propose
from proxy.wire.reply import Choice

FENCE, THINK, REASONING = Repair.UNWRAP_FENCE, Repair.DROP_THINK_TAG, Repair.JSON_FROM_REASONING


@pytest.mark.parametrize(
    ("content", "repaired"),
    [
        pytest.param('```json\n{"a":1}\n```', '{"a":1}', id="json-fence"),
        pytest.param(' \n```\n{"a":1}\n```\n', '{"a":1}', id="bare-fence-among-blanks"),
        pytest.param('```JSON\r\n{"a":1}\r\n```', '{"a":1}', id="upper-case"),
        pytest.param('```{"a":1}```', '{"a":1}', id="one-line"),
        pytest.param('```json\n{"a":"```"}\n```', '{"a":"```"}', id="fence-in-a-string"),
    ],
)
def test_fence_round_the_whole_answer_is_unwrapped(content: str, repaired: str) -> None:
    assert propose(Choice(0, content), [FENCE]) == Repaired(repaired, (FENCE,))


@pytest.mark.parametrize(
    "content",
    [
        '{"a":1}',
        'Here: ```json\n{"a":1}\n```',
        '```json\n{"a":1}\n``` done',
        '```json\n{"a":1}',
        "",
    ],
)
def test_other_fences_are_left_alone(content: str) -> None:
    assert propose(Choice(0, content), [FENCE]) is None


@pytest.mark.parametrize(
    ("content", "repaired"),
    [
        pytest.param('<think>\nHm.\n</think>\n\n{"a":1}', '{"a":1}', id="whole-tag"),
        pytest.param('</think>{"a":1}', '{"a":1}', id="stray-end"),
        pytest.param('\n</think>\n{"a":"</think>"}', '{"a":"</think>"}', id="tag-in-a-string"),
    ],
)
def test_leading_think_tag_is_dropped(content: str, repaired: str) -> None:
    assert propose(Choice(0, content), [THINK]) == Repaired(repaired, (THINK,))


@pytest.mark.parametrize("content", ['{"a":1}</think>', 'Hm. </think>{"a":1}', '<think>{"a":1}'])
def test_other_think_tags_are_left_alone(content: str) -> None:
    assert propose(Choice(0, content), [THINK]) is None


def test_fence_after_a_think_tag_takes_both_repairs() -> None:
    choice = Choice(0, '<think>x</think>\n```json\n{"a":1}\n```')

    assert propose(choice, [FENCE, THINK]) == Repaired('{"a":1}', (THINK, FENCE))


@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_reasoning_replaces_only_an_empty_content(content: str | None) -> None:
    choice = Choice(0, content, reasoning=' {"a":1}\n')

    repaired = propose(choice, [REASONING])

    assert repaired == Repaired('{"a":1}', (REASONING,))
    assert repaired.clears_reasoning
    assert propose(Choice(0, "x", reasoning='{"a":1}'), [REASONING]) is None
    assert propose(Choice(0, content, reasoning=" "), [REASONING]) is None


def test_no_repair_is_proposed_unless_allowed() -> None:
    assert propose(Choice(0, '```json\n{"a":1}\n```'), [THINK, REASONING]) is None
    assert propose(Choice(0, '</think>{"a":1}'), [FENCE, REASONING]) is None
    assert propose(Choice(0, None, reasoning='{"a":1}'), [FENCE, THINK]) is None


def test_openings_belong_to_the_allowed_repairs() -> None:
    assert openings([FENCE]) == ("```",)
    assert openings([THINK, REASONING]) == ("<think>", "</think>")
    assert openings([]) == ()
