"""Expectations in words: the sentences that a program can recognise, and what each one means."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tests.cases.finding import Finding, NotChecked, Wrong
from tests.cases.run import Exchange, Seen
from tests.cases.upstream import json_of

_OK: Final = 200
_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500
_ATTEMPT: Final = re.compile(r"attempt_(\d+)")
Problem = str | None


def check_upstream_request(wanted: str | Mapping[str, str], seen: Seen) -> Iterable[Finding]:
    """`every_attempt` and `attempt_N`, each a few sentences with semicolons between them."""
    if isinstance(wanted, str):
        wanted = {"every_attempt": wanted}
    bodies = [json_of(call) for call in seen.calls]
    for key, text in wanted.items():
        match = _ATTEMPT.fullmatch(key)
        chosen = [int(match[1])] if match else list(range(1, len(bodies) + 1))
        if not chosen or max(chosen) > len(bodies):
            yield Wrong(f"upstream_request.{key}: there was no such attempt")
            continue
        for sentence in _sentences(text):
            yield from _on_requests(key, sentence, chosen, bodies, seen.first.request)


def check_if_200(wanted: str, seen: Seen) -> Iterable[Finding]:
    """Holds where the status is another one."""
    if seen.first.status != _OK:
        return
    yield from _by_sentence("if_200", wanted, _IF_200, seen.first, seen)


def check_must_not(wanted: str, seen: Seen) -> Iterable[Finding]:
    yield from _by_sentence("must_not", wanted, _MUST_NOT, seen.first, seen)


def check_client_headers(wanted: str | Mapping[str, str | None], seen: Seen) -> Iterable[Finding]:
    """Names with the values they must have, None: absent; or "NAME present"."""
    for exchange in seen.exchanges:
        if isinstance(wanted, str):
            yield from _by_sentence("client_headers", wanted, _HEADERS, exchange)
            continue
        for name, value in wanted.items():
            found = exchange.headers.get(name)
            if found != value:
                yield Wrong(f"client_headers.{name}: wanted {value!r}, found {found!r}")


def check_error_body(wanted: str | Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    """Members that the error must have; in words, its form and what it must not quote."""
    for exchange in seen.exchanges:
        if isinstance(wanted, str):
            yield from _by_sentence("error_body", wanted, _ERROR_BODY, exchange, seen)
            continue
        error = exchange.told.errors[0] if exchange.told.errors else {}
        for name, value in wanted.items():
            if error.get(name) != value:
                yield Wrong(f"error_body.{name}: wanted {value!r}, found {error.get(name)!r}")


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


_Rule = tuple[str, Callable[..., Problem]]


def _by_sentence(
    name: str, text: str, rules: Sequence[_Rule], *arguments: object
) -> Iterable[Finding]:
    for sentence in _sentences(text):
        found = [
            (rule, match) for pattern, rule in rules if (match := re.search(pattern, sentence))
        ]
        if not found:
            yield NotChecked(f"{name}: {sentence}")
        for rule, match in found:
            problem = rule(match, *arguments)
            if problem:
                yield Wrong(f"{name}: {sentence}: {problem}")


def _on_requests(
    key: str,
    sentence: str,
    chosen: Sequence[int],
    bodies: Sequence[Any],
    request: Mapping[str, Any],
) -> Iterable[Finding]:
    name = f"upstream_request.{key}"
    for number in chosen:
        body = bodies[number - 1]
        if body is not None:
            yield from _by_sentence(name, sentence, _REQUEST, body, request, bodies)


def _equal(_: re.Match[str], body: Any, request: Any, __: Any) -> Problem:
    return None if _spelled(body) == _spelled(request) else f"the upstream got {_spelled(body)}"


def _identical(_: re.Match[str], body: Any, __: Any, bodies: Sequence[Any]) -> Problem:
    return None if _spelled(body) == _spelled(bodies[0]) else "it is another request"


def _forwarded(match: re.Match[str], body: Any, _: Any, __: Any) -> Problem:
    found = _at(body, match["path"])
    return None if _spelled(found) == match["value"] else f"it is {found!r}"


def _only_usage_added(_: re.Match[str], body: Any, request: Any, __: Any) -> Problem:
    """Our own wish for usage is all that may differ."""
    options = dict(body.get("stream_options") or {})
    if options.pop("include_usage", True) is not True:
        return "it is not true"
    rest = {**body, "stream_options": options}
    if not options:
        rest.pop("stream_options")
    return None if _spelled(rest) == _spelled(request) else f"the upstream got {_spelled(body)}"


def _added(match: re.Match[str], body: Any, request: Any, _: Any) -> Problem:
    added = body["messages"][len(request["messages"]) :]
    text = " ".join(str(message.get("content")) for message in added)
    return None if match["text"] in text else f"added was {text!r}"


def _system_first(match: re.Match[str], body: Any, _: Any, __: Any) -> Problem:
    places = [index for index, one in enumerate(body["messages"]) if one["role"] == "system"]
    fits = places in ([], [0]) if match[1] == "at most" else places == [0]
    return None if fits else f"system messages at {places}"


def _alternate(_: re.Match[str], body: Any, __: Any, ___: Any) -> Problem:
    roles = [one["role"] for one in body["messages"] if one["role"] != "system"]
    wanted = [("user", "assistant")[index % 2] for index in range(len(roles))]
    return None if roles == wanted else f"roles are {roles}"


def _differs_in(match: re.Match[str], body: Any, _: Any, bodies: Sequence[Any]) -> Problem:
    allowed = set(re.split(r", | or ", match["names"]))
    changed = {
        name
        for name in body.keys() | bodies[0].keys()
        if _spelled(body.get(name)) != _spelled(bodies[0].get(name))
    }
    return None if changed and changed <= allowed else f"changed are {sorted(changed)}"


_REQUEST: Final[Sequence[_Rule]] = (
    (r"^JSON-equal to the client's request$", _equal),
    (r"^identical to attempt 1$", _identical),
    (r"^(?P<path>[\w.]+) (?P<value>\S+) is forwarded unchanged$", _forwarded),
    (r"^may contain stream_options\.include_usage true", _only_usage_added),
    (r"^added text contains (?P<text>.+)$", _added),
    (r"^(at most|exactly) one system message,? (?:and only )?at index 0$", _system_first),
    (r"^roles alternate user/assistant after it$", _alternate),
    (r"^differs from attempt 1 in (?P<names>[\w, ]+)$", _differs_in),
    # Said after "differs from attempt 1", which compares all fields.
    (r"^all other fields equal$", lambda *_: None),
)


def _finish_reason(match: re.Match[str], exchange: Exchange, _: Seen) -> Problem:
    found = exchange.told.finish_reasons
    return None if found == [match["word"]] else f"it is {found}"


def _marked(_: re.Match[str], exchange: Exchange, __: Seen) -> Problem:
    found = exchange.headers.get("x-sluicegate-verdicts", "")
    return None if "fail" in found else f"the header says {found!r}"


def _abstains(_: re.Match[str], exchange: Exchange, seen: Seen) -> Problem:
    """The text that the policy has for this, and no other."""
    wanted = [str(one.get("abstain_text")) for one in seen.case.policy.values() if _is_filter(one)]
    found = list(exchange.told.content.values())
    return None if found == wanted else f"it is {found}"


def _is_filter(member: Any) -> bool:
    return isinstance(member, dict) and "abstain_text" in member


_IF_200: Final[Sequence[_Rule]] = (
    (r"^finish_reason (?:stays )?(?P<word>\w+)", _finish_reason),
    (r"a gate header (?:marks|says so)", _marked),
    (r"^content is the configured abstention text", _abstains),
)


def _server_error(_: re.Match[str], exchange: Exchange, __: Seen) -> Problem:
    return f"status {exchange.status}" if exchange.status == _SERVER_ERROR else None


def _dropped(_: re.Match[str], exchange: Exchange, __: Seen) -> Problem:
    return "the connection broke" if exchange.dropped else None


def _present(match: re.Match[str], exchange: Exchange) -> Problem:
    return None if match["name"] in exchange.headers else "it is missing"


_HEADERS: Final[Sequence[_Rule]] = ((r"^(?P<name>[\w-]+) present$", _present),)


def _openai_form(_: re.Match[str], exchange: Exchange, __: Seen) -> Problem:
    errors = exchange.told.errors
    if exchange.status is None or exchange.status < _BAD_REQUEST or len(errors) != 1:
        return f"status {exchange.status}, body {exchange.body[:80]!r}"
    missing = {"message", "type", "param", "code"} - errors[0].keys()
    return f"missing: {sorted(missing)}" if missing else None


def _quotes_nothing(_: re.Match[str], exchange: Exchange, seen: Seen) -> Problem:
    for call in seen.calls:
        for choice in _body(call.answer.pieces).get("choices", ()):
            text = choice.get("message", {}).get("content")
            if text and text in exchange.body.decode():
                return f"it quotes {text!r}"
    return None


_MUST_NOT: Final[Sequence[_Rule]] = (
    (r"HTTP 500", _server_error),
    (r"dropped connection", _dropped),
    (r"reaches the client$", _quotes_nothing),
)
_ERROR_BODY: Final[Sequence[_Rule]] = (
    (r"^OpenAI form", _openai_form),
    (r"^raw model text not echoed", _quotes_nothing),
)


def _body(pieces: Sequence[bytes]) -> Mapping[str, Any]:
    try:
        found = json.loads(b"".join(pieces))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _spelled(value: Any) -> str:
    """JSON in one spelling, which keeps 2 and 2.0 apart."""
    return json.dumps(value, sort_keys=True)


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document
