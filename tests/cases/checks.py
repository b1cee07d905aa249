"""One check for every member of `expect`. What cannot be checked is said, never passed over."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator
from referencing import Registry

from tests.cases.faults import check_fault
from tests.cases.finding import Finding, NotChecked, Wrong, differs
from tests.cases.metrics import check_metrics, grown
from tests.cases.reading import is_strict_json
from tests.cases.run import SAME_AGAIN, Exchange, Seen
from tests.cases.sentences import (
    check_client_headers,
    check_error_body,
    check_if_200,
    check_must_not,
    check_upstream_request,
)
from tests.cases.upstream import UpstreamCall

_OK: Final = 200
_GATE_STEPS: Final = ("cold", "same", "vary", "reask")


def check(seen: Seen) -> list[Finding]:
    """All findings on a run."""
    return [
        finding
        for name, wanted in seen.case.expect.items()
        for finding in CHECKS[name](wanted, seen)
    ]


def _outcome(_: Any, __: Seen) -> Iterable[Finding]:
    """A summary in words of what the other members say."""
    return ()


def _client_status(wanted: Any, seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        yield from differs("client_status", wanted, exchange.status)


def _upstream_calls(wanted: Any, seen: Seen) -> Iterable[Finding]:
    """All calls together; in cases that repeat one request, those of each will do as well."""
    total, repeat = len(seen.calls), seen.case.client.repeat
    found = differs("upstream_calls", wanted, total)
    each = total / repeat
    return [] if found and not differs("", wanted, each) else found


def _retries(wanted: Any, seen: Seen) -> Iterable[Finding]:
    """Extra calls because of a gate; cases count those after an upstream fault with them."""
    for exchange in seen.exchanges:
        steps = [attempt["step"] for attempt in exchange.attempts]
        by_gates = sum(step in _GATE_STEPS for step in steps)
        if differs("", wanted, max(0, len(steps) - 1)):
            yield from differs("retries", wanted, by_gates)


def _attempts_valid(wanted: list[bool], seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        found = list(_validities(exchange))
        asked = wanted[: len(found)]
        if found != asked:
            yield Wrong(f"attempts_valid: wanted {asked}, found {found}")
        yield from (
            NotChecked(f"attempts_valid[{index}]: that answer was not asked for")
            for index in range(len(found), len(wanted))
        )


def _validities(exchange: Exchange) -> Iterable[bool | None]:
    """Whether each attempt was valid as received, so not if it was repaired; None: not judged."""
    attempts = exchange.attempts
    words = {"valid": True, "invalid": False, "upstream_fault": False}
    for index, attempt in enumerate(attempts):
        repaired = index == len(attempts) - 1 and bool(exchange.record.get("repairs"))
        yield False if repaired else words.get(attempt["result"])


def _valid_json(wanted: bool, seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        texts = exchange.told.content.values()
        found = exchange.status == _OK and bool(texts) and all(_fits(t, exchange) for t in texts)
        yield from differs("valid_json", wanted, found)


def _fits(text: str, exchange: Exchange) -> bool:
    """Whether a text is strict JSON and fits the request's schema, by a plain validator."""
    is_json, value = is_strict_json(text)
    schema = _schema(exchange.request)
    return is_json and (schema is None or _is_valid(value, schema))


def _is_valid(value: Any, schema: Any) -> bool:
    """With a registry of nothing, so that no reference is ever fetched."""
    return Draft202012Validator(schema, registry=Registry()).is_valid(value)


def _schema(request: Mapping[str, Any]) -> Any:
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_object":
        return {"type": "object"}
    given = wanted.get("json_schema", {}).get("schema")
    return given or (request.get("structured_outputs") or {}).get("json")


def _delivered_content(wanted: Any, seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        yield from differs("delivered_content", wanted, exchange.told.content.get(0))


def _delivered_tool_calls(wanted: list[Any], seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        yield from differs("delivered_tool_calls", [wanted], exchange.told.tool_calls)


def _delivered_id(wanted: Any, seen: Seen) -> Iterable[Finding]:
    for exchange in seen.exchanges:
        yield from differs("delivered_id", wanted, exchange.told.id)


def _repaired(wanted: bool, seen: Seen) -> Iterable[Finding]:
    """The outcome says it, and the metric counts it."""
    for exchange in seen.exchanges:
        yield from differs("repaired", wanted, exchange.record.get("outcome") == "repaired")
    yield from differs("repaired (metric)", wanted, grown(seen, "repairs_total") > 0)


def _upstream_cancelled(wanted: bool, seen: Seen) -> Iterable[Finding]:
    for number, call in enumerate(seen.calls, 1):
        yield from differs(f"upstream_cancelled (call {number})", wanted, _closed_early(call))


def _upstream_closed_early(wanted: list[bool], seen: Seen) -> Iterable[Finding]:
    return differs("upstream_closed_early", [wanted], [_closed_early(call) for call in seen.calls])


def _closed_early(call: UpstreamCall) -> bool:
    received = call.received
    return received is not None and received.over.is_set() and received.closed_early


def _client_stream(wanted: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    for name, value in wanted.items():
        look = _STREAM.get(name)
        for exchange in seen.exchanges:
            if look is None:
                yield NotChecked(f"client_stream.{name}")
            else:
                yield from look(value, exchange, seen)


def _stream_member(name: str, look: Callable[[Exchange], Any]) -> "_StreamCheck":
    return lambda value, exchange, _: differs(f"client_stream.{name}", [value], look(exchange))


def _byte_identical(value: bool, exchange: Exchange, seen: Seen) -> Iterable[Finding]:
    sent = b"".join(seen.calls[-1].answer.pieces)
    return differs("client_stream.byte_identical", value, exchange.body == sent)


def _stream_must_not(value: str, exchange: Exchange, _: Seen) -> Iterable[Finding]:
    """ "finish_reason WORD", in the whole stream; what may follow in the sentence is not read."""
    words = value.split()
    if words[:1] != ["finish_reason"] or len(words) == 1:
        yield NotChecked(f"client_stream.must_not: {value}")
    elif words[1] in exchange.told.finish_reasons:
        yield Wrong(f"client_stream.must_not: {value}")


_StreamCheck = Callable[[Any, Exchange, Seen], Iterable[Finding]]
_STREAM: Final[Mapping[str, _StreamCheck]] = {
    "content": _stream_member("content", lambda one: one.told.content.get(0, "")),
    "reasoning": _stream_member("reasoning", lambda one: one.told.reasoning.get(0, "")),
    "done": _stream_member("done", lambda one: one.told.done),
    "finish_reason": _stream_member("finish_reason", lambda one: _last(one.told.finish_reasons)),
    "usage_chunk": _stream_member("usage_chunk", lambda one: one.told.usage_chunk),
    "error_event": _stream_member("error_event", lambda one: bool(one.told.errors)),
    "byte_identical": _byte_identical,
    "must_not": _stream_must_not,
}


def _last(words: list[str]) -> str | None:
    return words[-1] if words else None


def _then(wanted: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    """The status of the request that follows; being late counts as no reply."""
    if seen.then is None:
        yield NotChecked(f"then: only {SAME_AGAIN!r} is understood")
    else:
        yield from differs("then.client_status", wanted["client_status"], seen.then.status)


def _in_words(name: str) -> "_Check":
    return lambda wanted, _: [NotChecked(f"{name}: {wanted}")]


_Check = Callable[[Any, Seen], Iterable[Finding]]
CHECKS: Final[Mapping[str, _Check]] = {
    "outcome": _outcome,
    "client_status": _client_status,
    "upstream_calls": _upstream_calls,
    "retries": _retries,
    "attempts_valid": _attempts_valid,
    "valid_json": _valid_json,
    "delivered_content": _delivered_content,
    "delivered_tool_calls": _delivered_tool_calls,
    "delivered_id": _delivered_id,
    "fault": check_fault,
    "repaired": _repaired,
    "upstream_cancelled": _upstream_cancelled,
    "upstream_closed_early": _upstream_closed_early,
    "upstream_request": check_upstream_request,
    "client_headers": check_client_headers,
    "client_stream": _client_stream,
    "metrics": check_metrics,
    "error_body": check_error_body,
    "then": _then,
    "if_200": check_if_200,
    "must_not": check_must_not,
    "also_check": _in_words("also_check"),
    "flagged": _in_words("flagged"),
    "counts": _in_words("counts"),
    "failed_paths": _in_words("failed_paths"),
}
