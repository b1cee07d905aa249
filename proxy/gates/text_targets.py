"""Which texts of a reply a gate means: the whole text, or fields of the JSON that was promised."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from proxy.gates.text_path import InvalidPath, JsonPath, parse_path, pointer, spelled
from proxy.wire.reply import Choice

WHOLE: Final = "text"
WHOLE_NAME: Final = "Your text"
_UNJUDGED: Final = "content_filter"


@dataclass(frozen=True, slots=True)
class FoundText:
    """One text of a reply. `place`: for the client; `name`: for the model that wrote it."""

    place: str
    name: str
    text: str


class TextTarget:
    """A target as a policy names it: `text`, or a JSONPath."""

    def __init__(self, of: str) -> None:
        """Raises `InvalidPath`."""
        self.path: JsonPath | None = None if of == WHOLE else _path(of)

    @property
    def is_whole(self) -> bool:
        return self.path is None

    def find(self, content: "Content") -> Iterator[FoundText]:
        """The texts that are there. A field that is absent, null or no text is none of them."""
        if self.path is None:
            if not content.is_json:
                yield FoundText(content.place, WHOLE_NAME, content.text)
            return
        if content.is_json:
            for keys, value in self.path.find(content.document):
                if isinstance(value, str):
                    yield FoundText(_place(content.place, keys), spelled(keys), value)


class Content:
    """The content of one choice. `document` is None where it is not JSON, by promise or in fact."""

    def __init__(self, choice: Choice, *, is_json: bool) -> None:
        self.place = f"choices[{choice.index}].message.content"
        self.text = choice.content or ""
        self.is_json = is_json
        self.document: Any = _document(self.text) if is_json else None


def is_judged(choice: Choice) -> bool:
    """Whether the choice is an answer: no refusal, no call of a tool, not filtered."""
    return not (choice.refusal or choice.tool_calls or choice.finish_reason == _UNJUDGED)


def _path(of: str) -> JsonPath:
    try:
        return parse_path(of)
    except InvalidPath as error:
        raise InvalidPath(f"is neither `{WHOLE}` nor a path: {error}") from error


def _place(content: str, keys: tuple[str | int, ...]) -> str:
    return f"{content}#{pointer(keys)}"


def _document(text: str) -> Any:
    """What the text holds as JSON; how strict it must be, another gate knows."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
