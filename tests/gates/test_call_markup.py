import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.call_markup import CallScanner, Sighting

NAMES = {"look", "get_weather"}
HERMES = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'


def _found(*pieces: str) -> tuple[bool, Sighting | None]:
    """Whether it was certain before the end, and what was found in the end."""
    scanner = CallScanner(NAMES)
    certain = [scanner.feed(piece) is not None for piece in pieces]
    return any(certain), scanner.finish()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HERMES, id="hermes"),
        pytest.param('<tool_call>{"arguments": {}, "name": "look"}</tool_call>', id="other-order"),
        pytest.param('<tool_calls>[{"name": "look", "arguments": {}}]', id="list"),
        pytest.param("<tool_call>\n<function=look>\n<parameter=a>\n", id="qwen3-coder"),
        pytest.param('<function=look>{"a": 1}</function>', id="llama"),
        pytest.param('<|python_tag|>{"name": "look", "parameters": {}}', id="llama-json"),
        pytest.param("<tool_call>look\n<arg_key>a</arg_key>", id="glm"),
        pytest.param('[TOOL_CALLS] [{"name": "look", "arguments": {}}]', id="mistral"),
        pytest.param('[TOOL_CALLS]look{"a": 1}', id="mistral-name"),
        pytest.param("[TOOL_CALLS]look[ARGS]{}", id="mistral-args"),
        pytest.param(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0"
            "<|tool_call_argument_begin|>{}",
            id="kimi",
        ),
        pytest.param(
            "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
            "function<\uff5ctool\u2581sep\uff5c>look\n```json\n{}\n```",
            id="deepseek",
        ),
        pytest.param(
            '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="look">', id="dsml"
        ),
        pytest.param('<minimax:tool_call>\n<invoke name="look">', id="minimax"),
        pytest.param("<|tool_call>call:look{a:1}<tool_call|>", id="gemma"),
        pytest.param('<TOOLCALL>[{"name": "look", "arguments": {}}]</TOOLCALL>', id="nemotron"),
        pytest.param(
            "<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}", id="gpt-oss"
        ),
    ],
)
def test_call_at_the_beginning_of_a_line_is_certain(text: str) -> None:
    assert _found(text)[0]
    assert _found("Let me see.\n\n", text)[0]
    assert _found(*text)[0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Use <tool_call> to call look with a place.", id="mark-in-prose"),
        pytest.param("<tool_call> is the mark; <function=name> follows.", id="mark-first"),
        pytest.param("<tool_call> look: the mark and the tool", id="colon"),
        pytest.param(f"Like `{HERMES.splitlines()[1]}` in `<tool_call>`.", id="backticks"),
        pytest.param(f"An example:\n```xml\n{HERMES}\n```\nThat is all.", id="fence"),
        pytest.param(f"An example:\n```\n{HERMES}", id="unclosed-fence"),
        pytest.param('Write <tool_call>{"name": "look"}</tool_call> and it runs.', id="mid-line"),
        pytest.param('    <tool_call>{"name": "look"}</tool_call>\nfrom a log.', id="indented"),
        pytest.param('Qwen writes\n<tool_call>{"name": "f"}</tool_call>', id="unknown-name"),
        pytest.param("<function=f> closes a function.", id="unknown-name-first-but-prose"),
        pytest.param("a[TOOL_CALLS] < b", id="source-code"),
        pytest.param("<tool_call>" + " " * 500 + "look(", id="far-apart"),
        pytest.param("<tool_call> and <tool_call> and <", id="marks-only"),
        pytest.param("<" + "a" * 200, id="long-tag"),
        pytest.param("<tool_call>look", id="cut-at-the-name"),
    ],
)
def test_text_about_calls_is_none(text: str) -> None:
    assert _found(text) == (False, None)


@pytest.mark.parametrize("text", [f"Now.{HERMES}", f"Now. {HERMES}\n\n"])
def test_call_in_mid_line_counts_where_the_text_ends_with_it(text: str) -> None:
    certain, found = _found(text)

    assert not certain
    assert found == Sighting(text.index("<"), "look")


def test_call_in_mid_line_may_count_anywhere() -> None:
    scanner = CallScanner(NAMES)
    scanner.feed(f"I call {HERMES} now, then I wait.")

    assert scanner.finish() is None
    assert scanner.finish(anywhere=True) == Sighting(7, "look")


def test_unknown_name_counts_only_where_the_whole_text_is_the_call() -> None:
    call = '<tool_call>\n{"name": "fetch", "arguments": {}}\n</tool_call>'

    assert _found(f"\n{call}") == (False, Sighting(1, "fetch"))
    assert _found(f"{call} is how it looks.") == (False, None)
    assert _found(f"Now.\n{call}") == (False, None)


def test_first_certain_call_stays() -> None:
    scanner = CallScanner(NAMES)

    first = scanner.feed(f"{HERMES}\n{HERMES}")

    assert scanner.feed(HERMES) == first == scanner.finish() == Sighting(0, "look")


@pytest.mark.parametrize(
    ("text", "suspects"),
    [
        ("", False),
        ("Well", False),
        ("a <", True),
        ("a <tool", True),
        ("a <table", False),
        ("a <b>", False),
        ("a [TOOL", True),
        ("a [1]", False),
        ("a <|im", True),
        ("a <tool_call>", True),
        ("a <tool_call>\n", True),
        ("a <tool_call> to", True),
        ("a <tool_call> marks", True),
        ("a <tool_call> marks it", False),
        ('a <tool_call>{"name": "look"', True),
        ("<function=look>", True),
    ],
)
def test_end_that_may_become_a_call_is_suspect(text: str, *, suspects: bool) -> None:
    scanner = CallScanner(NAMES)

    scanner.feed(text)

    assert scanner.suspects is suspects


MARKS = ["<", "tool_call>", "<function=", ">", "[TOOL_", "CALLS]", "<|", "|>", "functions."]
OTHERS = ["look", "f", "a", "{", '"name":"', ":", "0", "`", "```\n", "\n", " ", "    "]
PIECES = st.sampled_from([*MARKS, *OTHERS])


@given(st.lists(PIECES, max_size=16))
def test_cuts_change_nothing(pieces: list[str]) -> None:
    whole = "".join(pieces)

    assert _found(*whole) == _found(whole) == _found(*pieces)
