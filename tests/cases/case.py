"""Case files as frozen values. What a case may hold is fixed here; anything else is an error."""

import base64
import binascii
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

Document = Mapping[str, Any]

_MEMBERS: Final = frozenset(
    {"id", "theme", "source", "summary", "behaviour", "request", "policy", "client"}
    | {"upstream", "expect", "variants"}
)
_NEEDED: Final = ("request", "upstream", "expect")
_VARIANT: Final = _MEMBERS - {"id", "variants"}
_BODIES: Final = ("body", "raw", "b64", "sse", "timeout", "connect_error")
_ANSWER: Final = frozenset({*_BODIES, "status", "headers", "delays_ms", "end", "after"})
_CLIENT: Final = frozenset({"headers", "repeat", "vary", "disconnect_after_events", "stream"})
EXPECTATIONS: Final = frozenset(
    {"outcome", "client_status", "upstream_calls", "retries", "attempts_valid", "valid_json"}
    | {"delivered_content", "delivered_tool_calls", "delivered_id", "fault", "repaired"}
    | {"upstream_cancelled", "upstream_closed_early", "upstream_request", "client_headers"}
    | {"client_stream", "metrics", "error_body", "then", "if_200", "must_not", "also_check"}
    | {"flagged", "counts", "failed_paths"}
)


class CaseError(ValueError):
    """A case that cannot be read; the message says where and why."""


class End(StrEnum):
    """What follows the last byte: a proper end, the connection's end, or nothing at all."""

    COMPLETE = "complete"
    EOF = "eof"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the upstream. `refuses`: no connection; `silent`: no byte comes."""

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    is_stream: bool = False
    delays_seconds: tuple[float, ...] = ()
    end: End = End.COMPLETE
    refuses: bool = False
    silent: bool = False


@dataclass(frozen=True, slots=True)
class ClientScript:
    """How the client behaves. `vary` names a member of the request and its text with `<n>`.

    `disconnect_after_events` 0: it leaves as soon as the upstream has the request.
    """

    headers: tuple[tuple[str, str], ...] = ()
    repeat: int = 1
    vary: tuple[str, str] | None = None
    disconnect_after_events: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `answers` come one after another; a lone answer is given to every call."""

    id: str
    request: Document
    policy: Document
    answers: tuple[Answer, ...]
    lone_answer: bool
    client: ClientScript
    expect: Document
    variants: tuple["Case", ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line of a case file that is no case."""

    id: str
    problem: str


def read_file(path: Path) -> list[Case | Unreadable]:
    """All cases of a file, one JSON object a line; a bad line does not hide the others."""
    found: list[Case | Unreadable] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        name = f"line {number}"
        try:
            document = _object(json.loads(line), "case")
            name = str(document.get("id", name))
            found.append(read_case(document))
        except json.JSONDecodeError as error:
            found.append(Unreadable(name, f"not JSON: {error}"))
        except CaseError as error:
            found.append(Unreadable(name, str(error)))
    return found


def read_case(document: Document) -> Case:
    """One case with its variants. Raises `CaseError`."""
    _only(document, _MEMBERS, "case")
    missing = [name for name in ("id", *_NEEDED) if name not in document]
    if missing:
        raise CaseError(f"missing: {', '.join(missing)}")
    variants = _list(document.get("variants", []), "variants")
    return _case(document, tuple(_variants(document, variants)))


def _variants(base: Document, variants: list[Any]) -> Iterator[Case]:
    """A variant says only what differs; of its expectations nothing is inherited."""
    for number, variant in enumerate(variants, 1):
        place = f"variants[{number - 1}]"
        _only(_object(variant, place), _VARIANT, place)
        merged = {**base, **variant, "id": f"{base['id']}/{number}"}
        if "expect" not in variant:
            raise CaseError(f"{place}: missing: expect")
        yield _case(merged, ())


def _case(document: Document, variants: tuple[Case, ...]) -> Case:
    upstream = document["upstream"]
    answers = upstream if isinstance(upstream, list) else [upstream]
    expect = _object(document["expect"], "expect")
    _only(expect, EXPECTATIONS, "expect")
    request = _object(document["request"], "request")
    client = _object(document.get("client", {}), "client")
    if "stream" in client:
        request = {**request, "stream": client["stream"]}
    return Case(
        id=str(document["id"]),
        request=request,
        policy=_object(document.get("policy", {}), "policy"),
        answers=tuple(_answer(one, f"upstream[{index}]") for index, one in enumerate(answers)),
        lone_answer=not isinstance(upstream, list),
        client=_client(client),
        expect=expect,
        variants=variants,
    )


def _answer(document: Any, place: str) -> Answer:
    _only(_object(document, place), _ANSWER, place)
    kinds = [name for name in _BODIES if name in document]
    if len(kinds) != 1:
        raise CaseError(f"{place}: needs one of {', '.join(_BODIES)}")
    delays = _list(document.get("delays_ms", []), f"{place}.delays_ms")
    try:
        end = End(document.get("end", End.COMPLETE))
    except ValueError as error:
        raise CaseError(f"{place}.end: unknown word `{document['end']}`") from error
    return Answer(
        pieces=_pieces(document, kinds[0], place),
        status=document.get("status", 200),
        headers=_headers(document.get("headers", {}), f"{place}.headers"),
        is_stream=kinds[0] == "sse",
        delays_seconds=tuple(delay / 1000 for delay in delays),
        end=end,
        refuses=kinds[0] == "connect_error",
        silent=kinds[0] == "timeout",
    )


def _pieces(document: Document, kind: str, place: str) -> tuple[bytes, ...]:
    value = document[kind]
    if kind == "body":
        return ((value if isinstance(value, str) else json.dumps(value)).encode(),)
    if kind == "raw":
        return (str(value).encode(),)
    if kind == "b64":
        return (_bytes(value, place),)
    if kind == "sse":
        chunks = _list(value, f"{place}.sse")
        return tuple(
            _bytes(chunk.get("b64"), place) if isinstance(chunk, dict) else str(chunk).encode()
            for chunk in chunks
        )
    return ()


def _bytes(text: Any, place: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise CaseError(f"{place}: not base64") from error


def _client(document: Document) -> ClientScript:
    _only(document, _CLIENT, "client")
    name, _, text = str(document.get("vary", "")).partition(": ")
    return ClientScript(
        headers=_headers(document.get("headers", {}), "client.headers"),
        repeat=document.get("repeat", 1),
        vary=(name, text) if text else None,
        disconnect_after_events=document.get("disconnect_after_events"),
    )


def _headers(document: Any, place: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in _object(document, place).items())


def _only(document: Document, known: Collection[str], place: str) -> None:
    unknown = sorted(document.keys() - set(known))
    if unknown:
        raise CaseError(f"{place}: unknown member{'s' * (len(unknown) > 1)} {', '.join(unknown)}")


def _object(value: Any, place: str) -> Document:
    if not isinstance(value, dict):
        raise CaseError(f"{place}: not an object")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise CaseError(f"{place}: not a list")
    return value
