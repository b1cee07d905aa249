"""What a request's `tools` and `tool_choice` promise, read as vLLM reads them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proxy.errors import InvalidRequest
from proxy.gates.schema import CompiledSchema, SchemaBounds, compile_schema
from proxy.gates.schema_references import InvalidSchema

_BOUNDS = SchemaBounds()
_MOST_BYTES = 4_194_304
_MOST_TOOLS = 1_024


class Mode(StrEnum):
    """Whether the model may, must or must not call."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as offered; `parameters` is the JSON text of its schema, None where there is none.

    A name that is offered twice has no schema that could be held. `param` is where it stood.
    """

    name: str
    parameters: bytes | None = None
    param: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """`allowed`: the tools that may be called; `is_named` when the request names the one."""

    mode: Mode
    allowed: frozenset[str]
    is_named: bool = False


def read_tools(raw: bytes) -> Mapping[str, Tool]:
    """The tools by name; none for an empty list. Raises `InvalidRequest` with the member at fault.

    Schemas are not looked into: compiling may not be cheap.
    """
    items = _document(raw, "tools") if raw else []
    if not isinstance(items, list):
        raise InvalidRequest("`tools` must be a list.", param="tools")
    if len(items) > _MOST_TOOLS:
        raise InvalidRequest("`tools` has more than 1,024 tools.", param="tools")
    tools: dict[str, Tool] = {}
    for position, item in enumerate(items):
        tool = _tool(item, f"tools[{position}]")
        known = tools.get(tool.name)
        tools[tool.name] = tool if known is None else Tool(tool.name, repeats=True)
    return tools


def compile_tool(tool: Tool, bounds: SchemaBounds = _BOUNDS) -> CompiledSchema | None:
    """The schema of a tool's arguments, if it has one. Raises `InvalidRequest` where it is none."""
    if tool.parameters is None:
        return None
    try:
        return compile_schema(tool.parameters, bounds)
    except InvalidSchema as error:
        where = f" at {error.pointer}" if error.pointer else ""
        message = f"The parameters of the tool cannot be used: {error.message}{where}."
        raise InvalidRequest(message, param=tool.param) from error


def read_choice(raw: bytes, tools: Mapping[str, Tool]) -> ToolChoice:
    """What `tool_choice` asks for; `auto` when it is absent. Raises `InvalidRequest`."""
    choice = _document(raw, "tool_choice") if raw else Mode.AUTO
    every = frozenset(tools)
    if isinstance(choice, str) and choice in tuple(Mode):
        return ToolChoice(Mode(choice), every)
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        return _allowed_tools(choice, tools)
    if not isinstance(choice, dict) or choice.get("type", "function") != "function":
        message = "`tool_choice` must be auto, required, none or name a function."
        raise InvalidRequest(message, param="tool_choice")
    name = _known_name(choice, tools, "tool_choice")
    return ToolChoice(Mode.REQUIRED, frozenset({name}), is_named=True)


def _allowed_tools(choice: Mapping[str, Any], tools: Mapping[str, Tool]) -> ToolChoice:
    param = "tool_choice.allowed_tools"
    wanted = choice.get("allowed_tools")
    listed = wanted.get("tools") if isinstance(wanted, dict) else None
    if not isinstance(wanted, dict) or not isinstance(listed, list):
        raise InvalidRequest(f"`{param}.tools` must be a list.", param=param)
    if wanted.get("mode") not in (Mode.AUTO, Mode.REQUIRED):
        raise InvalidRequest("`mode` must be auto or required.", param=f"{param}.mode")
    names = (
        _known_name(item, tools, f"{param}.tools[{position}]")
        for position, item in enumerate(listed)
    )
    return ToolChoice(Mode(wanted["mode"]), frozenset(names))


def _known_name(item: Any, tools: Mapping[str, Tool], param: str) -> str:
    function = item.get("function") if isinstance(item, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or name not in tools:
        message = "It must name a function of `tools`."
        raise InvalidRequest(message, param=f"{param}.function.name")
    return name


def _tool(item: Any, param: str) -> Tool:
    if not isinstance(item, dict):
        raise InvalidRequest("A tool must be an object.", param=param)
    if item.get("type", "function") != "function":
        raise InvalidRequest("`type` must be function.", param=f"{param}.type")
    function = item.get("function")
    if not isinstance(function, dict):
        raise InvalidRequest("`function` must be an object.", param=f"{param}.function")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidRequest("`name` must be a text.", param=f"{param}.function.name")
    parameters, param = function.get("parameters"), f"{param}.function.parameters"
    if parameters is None:
        return Tool(name)
    if not isinstance(parameters, dict):
        raise InvalidRequest("`parameters` must be a JSON Schema object.", param=param)
    return Tool(name, json.dumps(parameters).encode(), param)


def _document(raw: bytes, param: str) -> Any:
    if len(raw) > _MOST_BYTES:
        raise InvalidRequest(f"`{param}` is too large.", param=param)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"`{param}` is not readable JSON.", param=param) from error
