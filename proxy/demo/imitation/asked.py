"""What the imitation reads of a request; all else is ignored, as by vLLM."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from proxy.demo.imitation.tokens import MESSAGE_TOKENS, pieces_of


class WrongRequest(ValueError):
    """A request that vLLM would answer with 400 (or `status`); the message is for the client."""

    def __init__(self, message: str, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.status = status


class Message(msgspec.Struct):
    role: str
    content: Any = None

    @property
    def text(self) -> str:
        """Its words; of a list of parts, those of its text parts."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = (part.get("text") for part in parts if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))


class Function(msgspec.Struct):
    name: str
    parameters: dict[str, Any] = {}


class Tool(msgspec.Struct):
    function: Function


class StreamOptions(msgspec.Struct):
    include_usage: bool = False


class Asked(msgspec.Struct, dict=True):
    """A request for a chat, or for the continuation of a prompt."""

    messages: list[Message] = []
    prompt: str | None = None
    model: str | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = 1
    response_format: dict[str, Any] | None = None
    tools: list[Tool] | None = None
    tool_choice: Any = None
    chat_template_kwargs: dict[str, Any] | None = None
    return_token_ids: bool | None = None

    @property
    def limit(self) -> int | None:
        """The most tokens of the answer."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def thinks(self) -> bool:
        """Whether the answer begins with reasoning, as a reasoning model's does by default."""
        given = self.chat_template_kwargs or {}
        return self.prompt is None and given.get("enable_thinking", True) is not False

    @property
    def question(self) -> str:
        """The first message of the user, which stays the same when the proxy asks again."""
        if self.prompt is not None:
            return self.prompt
        return next((each.text for each in self.messages if each.role == "user"), "")

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the JSON that is demanded; an empty one for any object, None for text."""
        wanted = self.response_format or {}
        if wanted.get("type") == "json_object":
            return {"type": "object"}
        if wanted.get("type") != "json_schema":
            return None
        described = wanted.get("json_schema")
        schema = described.get("schema") if isinstance(described, dict) else None
        if not isinstance(schema, dict):
            raise WrongRequest("`response_format.json_schema.schema` is missing", "response_format")
        return schema

    @property
    def called(self) -> Function | None:
        """The tool that the answer calls: the named one, else the first."""
        if not self.tools or self.tool_choice == "none":
            return None
        if isinstance(self.tool_choice, dict):
            function = self.tool_choice.get("function")
            name = function.get("name") if isinstance(function, dict) else None
            return next((t.function for t in self.tools if t.function.name == name), None)
        return self.tools[0].function

    @cached_property
    def prompt_tokens(self) -> int:
        if self.prompt is not None:
            return max(1, len(pieces_of(self.prompt)))
        return sum(MESSAGE_TOKENS + len(pieces_of(each.text)) for each in self.messages)


_DECODER: Final = msgspec.json.Decoder(Asked)


def read_asked(body: bytes, *, chat: bool) -> Asked:
    """Read one request. Raises `WrongRequest`."""
    try:
        asked = _DECODER.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise WrongRequest(f"1 validation error: {error}") from error
    if chat and not asked.messages:
        raise WrongRequest("1 validation error: `messages` is missing or empty", "messages")
    if not chat and asked.prompt is None:
        raise WrongRequest("1 validation error: `prompt` is missing", "prompt")
    if asked.n not in {None, 1}:
        raise WrongRequest("this imitation answers with one choice: leave out `n`", "n")
    if asked.limit is not None and asked.limit < 1:
        raise WrongRequest("max_tokens must be at least 1", "max_tokens")
    return asked
