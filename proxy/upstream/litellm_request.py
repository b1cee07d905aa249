"""Reads a chat request into arguments for litellm, and refuses what a client must not steer.

litellm takes addresses, keys, headers, canned replies and callbacks as arguments of the same call,
and it fetches the media that messages name. So only known members pass, and media only as `data:`
URLs. Nothing is dropped silently. Knows nothing of litellm itself.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Never

from proxy.errors import InvalidRequest

# Members of a chat request that reach litellm; `model` is the lane's.
_PASSED_ON: Final = frozenset(
    {
        "messages",
        "temperature",
        "top_p",
        "n",
        "stream",
        "stream_options",
        "stop",
        "max_tokens",
        "max_completion_tokens",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "user",
        "response_format",
        "seed",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning_effort",
    }
)
# What a message may have: OpenAI's members, and those of litellm's replies, which agents send back.
_OF_A_MESSAGE: Final = frozenset(
    {
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "reasoning",
        "reasoning_content",
        "thinking_blocks",
        "annotations",
        "images",
        "provider_specific_fields",
        "cache_control",
    }
)
_PART_TYPES: Final = ("text", "refusal", "image_url", "input_audio", "file")
_OF_EVERY_PART: Final = frozenset({"type", "cache_control"})
_MEDIA: Final = frozenset(
    {"image_url", "input_audio", "file", "source", "video_url", "audio_url", "file_url"}
)
_ADDRESSES: Final = frozenset({"url", "data", "file_data", "file_id", "file_url"})
# The whole URL is matched: litellm looks for `gs://` anywhere in it.
_BASE64: Final = r"[A-Za-z0-9+/=_\s-]*"
_DATA_URL: Final = re.compile(rf"data:[\w.+-]+/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,{_BASE64}")
_PLAIN_BASE64: Final = re.compile(_BASE64)
_SHOWN_NAMES: Final = 8
_SHOWN_CHARACTERS: Final = 64


def read_arguments(body: bytes, model: str) -> dict[str, Any]:
    """The arguments of one completion by `model`.

    Raises `InvalidRequest`, which names what is refused and never quotes a value.
    """
    try:
        document = json.loads(body, parse_constant=_refuse_constant)
        if not isinstance(document, dict):
            raise InvalidRequest("The body must be a JSON object.")
        _check(document)
        # Lone surrogates are legal in JSON and cannot be sent on.
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest("The body holds a lone surrogate, which is no text.") from error
    except ValueError as error:
        raise InvalidRequest("The body is not JSON.") from error
    except RecursionError as error:
        raise InvalidRequest("The body is nested too deeply.") from error
    return document | {"model": model}


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)


def _check(document: Mapping[str, Any]) -> None:
    refused = document.keys() - _PASSED_ON - {"model"}
    if refused:
        raise InvalidRequest(
            f"This lane does not pass on {_listed(refused)}.", param=_shown(min(refused))
        )
    for name, kind in (("stream", bool), ("stream_options", dict), ("response_format", dict)):
        if not isinstance(document.get(name), kind | None):
            raise InvalidRequest(f"`{name}` has the wrong type.", param=name)
    if document.get("stream") and document.get("n") not in (None, 1):
        # litellm loses the finish_reason of every choice of a stream but one.
        raise InvalidRequest("This lane streams one choice only.", param="n")
    _check_tools(document.get("tools"))
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise InvalidRequest("`messages` must be a list.", param="messages")
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]")


def _check_tools(tools: object) -> None:
    """Only functions: other kinds have the provider or litellm fetch and run things."""
    if tools is None:
        return
    if not isinstance(tools, list):
        raise InvalidRequest("`tools` must be a list.", param="tools")
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            place = f"tools[{index}]"
            raise InvalidRequest(f"`{place}` must be of type `function`.", param=place)


def _check_message(message: object, place: str) -> None:
    if not isinstance(message, dict):
        raise InvalidRequest(f"`{place}` must be an object.", param=place)
    given = {name for name, value in message.items() if value is not None}
    _refuse(given - _OF_A_MESSAGE, place)
    content = message.get("content")
    if isinstance(content, list):
        for index, part in enumerate(content):
            _check_part(part, f"{place}.content[{index}]")
    elif not isinstance(content, str | None):
        raise InvalidRequest(f"`{place}.content` must be text or a list.", param=f"{place}.content")
    for name in given - {"content"}:
        _check_member(name, message[name], f"{place}.{name}")


def _check_part(part: object, place: str) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in _PART_TYPES:
        kinds = ", ".join(f"`{name}`" for name in _PART_TYPES)
        raise InvalidRequest(f"`{place}` must be of a type out of {kinds}.", param=place)
    _refuse(part.keys() - _OF_EVERY_PART - {kind}, place)
    for name, value in part.items():
        _check_member(name, value, f"{place}.{name}")


def _check_member(name: str, value: object, place: str) -> None:
    if name in _MEDIA and value is not None:
        _check_media(value, place)
    else:
        _check_nested(value, place)


def _check_nested(value: object, place: str) -> None:
    """Media may hide anywhere in what a provider's own blocks hold."""
    if isinstance(value, dict):
        for name, item in value.items():
            _check_member(name, item, f"{place}.{_shown(name)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_nested(item, f"{place}[{index}]")


def _check_media(value: object, place: str) -> None:
    """A `data:` URL, or an object whose addresses are such URLs and whose other texts hold none."""
    if isinstance(value, str):
        _check_address(value, place)
        return
    if not isinstance(value, dict):
        raise InvalidRequest(f"`{place}` must be an object.", param=place)
    for name, item in value.items():
        at = f"{place}.{_shown(name)}"
        is_base64 = name == "data" and isinstance(item, str) and _PLAIN_BASE64.fullmatch(item)
        if name in _ADDRESSES and item is not None and not is_base64:
            _check_address(item, at)
        elif isinstance(item, dict | list) or (isinstance(item, str) and "://" in item):
            raise InvalidRequest(f"`{at}` must be plain text without an address.", param=at)


def _check_address(value: object, place: str) -> None:
    if not isinstance(value, str) or not _DATA_URL.fullmatch(value):
        raise InvalidRequest(
            f"`{place}` must be a `data:` URL in base64: this lane fetches nothing for a client.",
            param=place,
        )


def _refuse(names: Iterable[str], place: str) -> None:
    if refused := sorted(names):
        at = f"{place}.{_shown(refused[0])}"
        raise InvalidRequest(
            f"This lane does not pass on {_listed(refused)} in `{place}`.", param=at
        )


def _listed(names: Iterable[str]) -> str:
    shown = [f"`{_shown(name)}`" for name in sorted(names)]
    more = len(shown) - _SHOWN_NAMES
    return ", ".join(shown[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _shown(name: str) -> str:
    """A client's member name, safe and short enough for a message."""
    return ascii(name[:_SHOWN_CHARACTERS])[1:-1]
