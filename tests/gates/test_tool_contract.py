import json
from typing import Any

import pytest

from proxy.errors import InvalidRequest
from proxy.gates.tool_contract import (
    Mode,
    Tool,
    ToolChoice,
    compile_tool,
    read_choice,
    read_tools,
)

LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
TOOLS = {"look": Tool("look"), "listen": Tool("listen")}
BOTH = frozenset(TOOLS)


def test_tools_are_read_by_name() -> None:
    tools = read_tools(json.dumps([LOOK, {"function": {"name": "listen"}}]).encode())

    assert tools == {
        "look": Tool("look", b'{"type": "object"}', "tools[0].function.parameters"),
        "listen": Tool("listen"),
    }


@pytest.mark.parametrize("raw", [b"", b"[]"], ids=["absent", "empty"])
def test_no_tools_are_none(raw: bytes) -> None:
    assert read_tools(raw) == {}


def test_repeated_name_has_no_schema() -> None:
    assert read_tools(json.dumps([LOOK, LOOK]).encode()) == {"look": Tool("look", repeats=True)}


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        pytest.param({"look": LOOK}, "tools", id="no-list"),
        pytest.param([LOOK, 7], "tools[1]", id="no-object"),
        pytest.param([{"type": "browser"}], "tools[0].type", id="other-type"),
        pytest.param([{"type": "function"}], "tools[0].function", id="no-function"),
        pytest.param([LOOK, {"function": {}}], "tools[1].function.name", id="no-name"),
        pytest.param([{"function": {"name": ""}}], "tools[0].function.name", id="empty-name"),
        pytest.param(
            [LOOK, {"function": {"name": "x", "parameters": True}}],
            "tools[1].function.parameters",
            id="no-schema",
        ),
    ],
)
def test_broken_tools_are_the_clients_fault(tools: Any, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_tools(json.dumps(tools).encode())

    assert refused.value.param == param


@pytest.mark.parametrize(
    "raw", [b"[" + b" " * 4_194_304 + b"]", b"[" * 100_000], ids=["too-large", "unreadable"]
)
def test_tools_beyond_the_bounds_are_refused(raw: bytes) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_tools(raw)

    assert refused.value.param == "tools"


def test_more_tools_than_a_thousand_and_twenty_four_are_refused() -> None:
    offered = [{"function": {"name": str(number)}} for number in range(1_025)]

    tools = read_tools(json.dumps(offered[1:]).encode())
    with pytest.raises(InvalidRequest, match="more than 1,024") as refused:
        read_tools(json.dumps(offered).encode())

    assert len(tools) == 1_024
    assert refused.value.param == "tools"


def test_tool_without_parameters_has_no_schema() -> None:
    assert compile_tool(Tool("look")) is None


def test_schema_of_a_tool_is_applied() -> None:
    schema = compile_tool(Tool("look", b'{"required":["at"]}', "here"))

    assert schema is not None
    assert schema.validate({}) is not None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (b'{"properties":{"a":{"type":"text"}}}', "at /properties/a/type"),
        (b'{"$ref":"http://elsewhere"}', "The parameters of the tool cannot be used"),
        (b'{"a":' + b" " * 300_000 + b"1}", "larger than"),
    ],
    ids=["no-type", "far-reference", "too-large"],
)
def test_unusable_schema_is_the_clients_fault(parameters: bytes, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message) as refused:
        compile_tool(Tool("look", parameters, "here"))

    assert refused.value.param == "here"


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        pytest.param("auto", ToolChoice(Mode.AUTO, BOTH), id="auto"),
        pytest.param("required", ToolChoice(Mode.REQUIRED, BOTH), id="required"),
        pytest.param("none", ToolChoice(Mode.NONE, BOTH), id="none"),
        pytest.param(
            {"type": "function", "function": {"name": "look"}},
            ToolChoice(Mode.REQUIRED, frozenset({"look"}), is_named=True),
            id="named",
        ),
        pytest.param(
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"function": {"name": "look"}}]},
            },
            ToolChoice(Mode.AUTO, frozenset({"look"})),
            id="allowed",
        ),
    ],
)
def test_tool_choice_is_read(choice: Any, read: ToolChoice) -> None:
    assert read_choice(json.dumps(choice).encode(), TOOLS) == read


def test_absent_tool_choice_is_auto() -> None:
    assert read_choice(b"", TOOLS) == ToolChoice(Mode.AUTO, BOTH)


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        pytest.param("any", "tool_choice", id="unknown-word"),
        pytest.param(7, "tool_choice", id="number"),
        pytest.param({"type": "tool"}, "tool_choice", id="unknown-type"),
        pytest.param({"type": "function"}, "tool_choice.function.name", id="no-function"),
        pytest.param({"function": {"name": "x"}}, "tool_choice.function.name", id="unknown-name"),
        pytest.param({"function": {"name": 1}}, "tool_choice.function.name", id="no-name"),
        pytest.param({"type": "allowed_tools"}, "tool_choice.allowed_tools", id="nothing-allowed"),
        pytest.param(
            {"type": "allowed_tools", "allowed_tools": {"tools": []}},
            "tool_choice.allowed_tools.mode",
            id="no-mode",
        ),
        pytest.param(
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [7]}},
            "tool_choice.allowed_tools.tools[0].function.name",
            id="no-tool",
        ),
    ],
)
def test_broken_tool_choice_is_the_clients_fault(choice: Any, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_choice(json.dumps(choice).encode(), TOOLS)

    assert refused.value.param == param
