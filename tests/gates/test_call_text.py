import json

import pytest

from proxy.gates.call_text import BareBeginning, FoundCall, find_call
from proxy.gates.json_prefix import Limits

NAMES = {"look", "listen"}
CALL = '{"name": "look", "arguments": {"at": "Ulm"}}'


def _find(text: str, *, may_be_bare: bool = True) -> FoundCall | None:
    return find_call(text, NAMES, Limits(), may_be_bare=may_be_bare)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CALL, id="json"),
        pytest.param(f"\n{CALL}\n", id="blanks-around"),
        pytest.param('{"name": "look", "parameters": {}}', id="parameters"),
        pytest.param('{"name": "look", "arguments": "{}"}', id="arguments-as-text"),
        pytest.param(f'[{CALL}, {{"name": "listen", "arguments": {{}}}}]', id="list"),
        pytest.param(f'{{"type": "function", "function": {CALL}}}', id="as-in-the-api"),
        pytest.param(f'{{"tool_calls": [{CALL}]}}', id="all-calls"),
        pytest.param(f"```json\n{CALL}\n```", id="fence"),
        pytest.param(f"```\n{CALL}\n```\n", id="bare-fence"),
        pytest.param("```xml\n<tool_call><function=look></function>\n```", id="marks-in-a-fence"),
        pytest.param(f"{CALL}\n</tool_call>", id="opening-mark-lost"),
    ],
)
def test_text_that_is_nothing_but_a_call_is_found(text: str) -> None:
    assert _find(text) == FoundCall(is_closed=True)
    assert _find(text, may_be_bare=False) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="no-call"),
        pytest.param("7", id="number"),
        pytest.param("[7]", id="list-of-numbers"),
        pytest.param('{"name": "Ulm", "arguments": {}}', id="unknown-name"),
        pytest.param('{"name": ["look"], "arguments": {}}', id="name-is-no-text"),
        pytest.param('{"name": "look"}', id="no-arguments"),
        pytest.param('{"name": "look", "arguments": {}, "seen": 1}', id="other-members"),
        pytest.param('{"function": {"name": "look"}, "seen": 1}', id="other-members-outside"),
        pytest.param(f"I would call {CALL}.", id="in-prose"),
        pytest.param(f"So:\n```json\n{CALL}\n```", id="fence-in-prose"),
        pytest.param(f"```json\n{CALL}\n```\n```json\n{CALL}\n```", id="two-fences"),
        pytest.param("```xml\n<tool_call><function=f></function>\n```", id="unknown-in-a-fence"),
        pytest.param("```\nSo:\n<function=look></function>\n```", id="prose-in-a-fence"),
        pytest.param('{"name": "look", "arguments": {}, "name": "look"}', id="not-strict"),
    ],
)
def test_other_texts_are_no_call(text: str) -> None:
    assert _find(text) is None


def test_cut_call_is_not_closed() -> None:
    text = f"<tool_call>\n{CALL}\n</tool_call>"

    assert _find(text) == FoundCall(is_closed=True)
    assert _find(text[:-25]) == FoundCall(is_closed=False)


@pytest.mark.parametrize(
    ("text", "suspects"),
    [
        ("", False),
        (" \n", False),
        ("{", True),
        (' {"na', True),
        ('{"name"', True),
        ('{"names"', False),
        ('{"name": "x", "text": "' + "y" * 200, True),
        ('[{"function', True),
        ("`", True),
        ("```", True),
        ("```json\n{", True),
        ("```python\nx", False),
        ("Well", False),
        ("{" + " " * 200, False),
    ],
)
def test_beginning_that_may_become_a_bare_call_is_suspect(text: str, *, suspects: bool) -> None:
    whole, pieces = BareBeginning(), BareBeginning()

    whole.feed(text)
    for character in text:
        pieces.feed(character)

    assert whole.suspects is pieces.suspects is suspects


def test_decision_on_a_beginning_is_final() -> None:
    beginning = BareBeginning()
    beginning.feed("Well")

    beginning.feed(json.dumps({"name": "look"}))

    assert not beginning.suspects
