"""Which parts of a request are evidence, by policy; nothing is ever fetched.

What a gate may compare an answer with is decided here once: sources prove, what was asked does not.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from proxy.errors import InvalidRequest
from proxy.gates.evidence.tags import NeverClosed, tagged_spans
from proxy.gates.option_error import BadOption
from proxy.gates.request_texts import MessageText, Role, texts_of
from proxy.gates.text_path import InvalidPath, JsonPath, Key, parse_path, pointer
from proxy.wire.request import Request

MOST_CHARACTERS: Final = 2_000_000

# Where tags and fields are looked for unless a policy names a role: what the client wrote itself.
_WRITTEN: Final = frozenset({"system", "developer", "user"})
_TAG: Final = re.compile(r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")
# JSON may spell any sign otherwise, `<` and the letters of a tag too.
_ESCAPED_SIGN: Final = re.compile(rb"\\u00[2-7]")


class Origin(StrEnum):
    """What made a text a source."""

    ROLE = "role"
    TAG = "tag"
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class Source:
    """One text that counts as evidence, as the client sent it.

    `place` is where it stands in the request; `start` is the character of that message's text
    (its text parts joined by line ends) at which it begins, 0 for a field of a JSON text.
    """

    text: str
    origin: Origin
    place: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Sources:
    """The evidence of one request, and all else that was `asked` in it.

    Names and numbers of an answer may come from `asked`, but it proves nothing. Nothing `found`:
    there is nothing to hold an answer against. A blank one is a source that says nothing.
    `question` is the last thing that the user asked.
    """

    found: tuple[Source, ...] = ()
    asked: str = ""
    question: str = ""

    @property
    def text(self) -> str:
        """All sources as one text."""
        return "\n\n".join(source.text for source in self.found)


def _check_tag(tag: str | None) -> str | None:
    if tag is not None and _TAG.search(tag) is None:
        raise BadOption("is no name of a tag", "write its letters only, such as quelle")
    return tag


class SourceOption(BaseModel):
    """One kind of source: messages of a `role`, blocks of a `tag`, a `field` of a JSON message.

    `role` beside one of the others says in which messages it is looked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Annotated[Role | None, Field(description="Messages of this role.")] = None
    tag: Annotated[
        str | None,
        Field(description="Blocks <tag>...</tag>.", json_schema_extra={"pattern": _TAG.pattern}),
        AfterValidator(_check_tag),
    ] = None
    field: Annotated[
        str | None,
        Field(
            description="A member of a message that is JSON, such as $.material or $.docs[*].text."
        ),
    ] = None

    @model_validator(mode="after")
    def _names_one(self) -> "SourceOption":
        if self.tag and self.field:
            raise BadOption("names a tag and a field", "write two entries")
        if not (self.tag or self.field or self.role):
            remedy = 'write {tag: source}, {role: tool} or {field: "$.name"}'
            raise BadOption("names no source", remedy)
        if self.field is not None:
            try:
                parse_path(self.field)
            except InvalidPath as error:
                remedy = "write a path such as $.material or $.docs[*].text"
                raise BadOption(f"is no path: {error}", remedy, ("field",)) from error
        return self


def may_have_sources(request: Request, options: Sequence[SourceOption]) -> bool:
    """Whether it is worth looking: quick and generous, for the many requests without any."""
    text = request.messages
    if b"<" in text:
        text = text.lower()
    if any(_mark(option) in text for option in options):
        return True
    return bool(options) and _ESCAPED_SIGN.search(text) is not None


def sources_of(request: Request, options: Sequence[SourceOption]) -> Sources:
    """The sources in a request's messages, in their order, each place once.

    Raises `InvalidRequest` for a tag that is never closed, and for more than two million
    characters of source, which no check could go through in time.
    """
    reading = _Reading([_Wanted.of(option) for option in options])
    for message in texts_of(request):
        reading.take(message)
    if sum(len(source.text) for source in reading.found) > MOST_CHARACTERS:
        raise InvalidRequest(
            f"The sources of the request have more than {MOST_CHARACTERS} characters; "
            "send the parts that matter.",
            code="sources_too_large",
            param="messages",
        )
    return Sources(tuple(reading.found), "\n".join(reading.asked), reading.question)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One option, compiled. `block` finds both ends of a tag."""

    roles: frozenset[str]
    tag: str = ""
    block: re.Pattern[str] | None = None
    path: JsonPath | None = None

    @classmethod
    def of(cls, option: SourceOption) -> "_Wanted":
        roles = frozenset({option.role}) if option.role else _WRITTEN
        if option.tag:
            name = re.escape(option.tag)
            ends = re.compile(rf"<(/?){name}(\s[^<>]*)?(?<!/)>", re.IGNORECASE)
            return cls(roles, option.tag, ends)
        return cls(roles, path=parse_path(option.field) if option.field else None)


@dataclass(slots=True)
class _Reading:
    """Takes one message after the other apart."""

    wanted: Sequence[_Wanted]
    found: list[Source] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    question: str = ""

    def take(self, message: MessageText) -> None:
        """Note the sources of a message, and what is left of it."""
        count = len(self.asked)
        self._take(message)
        if message.role == "user":
            self.question = "".join(self.asked[count:])

    def _take(self, message: MessageText) -> None:
        place, text = message.place, message.text
        wanted = [each for each in self.wanted if message.role in each.roles]
        if any(each.block is None and each.path is None for each in wanted):
            self.found.append(Source(text, Origin.ROLE, place))
            return
        paths = [each.path for each in wanted if each.path is not None]
        if paths and self._take_fields(place, text, paths):
            return
        rest, blocks = _blocks(place, text, [each for each in wanted if each.block is not None])
        self.found.extend(blocks)
        self.asked.append(rest)

    def _take_fields(self, place: str, text: str, paths: Sequence[JsonPath]) -> bool:
        if not text.lstrip().startswith(("{", "[")):
            return False
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return False
        taken = [place for path in paths for place in path.find(document)]
        if not taken:
            return False
        for keys, value in taken:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self.found.append(Source(told, Origin.FIELD, f"{place}#{pointer(keys)}"))
        for keys, _ in taken:
            document = _without(document, keys)
        self.asked.append(json.dumps(document, ensure_ascii=False))
        return True


def _without(document: Any, keys: tuple[Key, ...]) -> Any:
    """The document with nothing at a place; a member that was taken before may be above it."""
    parent = document
    for key in keys[:-1]:
        parent = None if parent is None else parent[key]
    if parent is not None:
        parent[keys[-1]] = None
    return document


def _blocks(place: str, text: str, wanted: Sequence[_Wanted]) -> tuple[str, list[Source]]:
    """The text without its tagged blocks, and the blocks in their order."""
    blocks: list[Source] = []
    rest: list[str] = []
    spans = sorted(span for each in wanted for span in _spans(place, text, each))
    end = 0
    for opened, start, stop, closed in spans:
        if opened < end:
            continue  # inside the block of another tag
        rest.append(text[end:opened])
        blocks.append(Source(text[start:stop], Origin.TAG, place, start))
        end = closed
    rest.append(text[end:])
    return " ".join(rest) if blocks else text, blocks


def _spans(place: str, text: str, wanted: _Wanted) -> Iterator[tuple[int, int, int, int]]:
    """Where blocks and their insides begin and end."""
    if wanted.block is None:
        return
    try:
        yield from tagged_spans(text, wanted.block)
    except NeverClosed as error:
        raise InvalidRequest(
            f"The source that begins with <{wanted.tag}> at character {error.at} is never "
            f"closed; write </{wanted.tag}> after it.",
            code="source_not_closed",
            param=place,
        ) from error


def _mark(option: SourceOption) -> bytes:
    """What the bytes of messages with such a source hold, tags in small letters."""
    if option.tag:
        return b"<" + option.tag.lower().encode()
    if option.role and not option.field:
        return option.role.encode()
    return b"content"
