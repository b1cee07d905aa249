"""The neutral fault names of cases in our fault classes, and whether a run shows them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tests.cases.finding import Finding, Wrong
from tests.cases.metrics import grown
from tests.cases.run import Exchange, Seen

_SERVER_ERROR: Final = 500
_SYNTAX: Final = frozenset(
    {"not_json", "leading_junk", "trailing_junk", "unfinished", "number_runaway", "bad_string"}
    | {"duplicate_key", "not_finite", "too_deep", "too_large"}
)
# A neutral name that is missing here is taken for one of our own classes.
_CLASSES: Final[Mapping[str, frozenset[str]]] = {
    "json_invalid": _SYNTAX,
    "whitespace_loop": frozenset({"whitespace_runaway"}),
    # A rescued answer passes, so its repair is all that is counted of it.
    "answer_in_reasoning": frozenset({"in_reasoning", "json_from_reasoning"}),
    "truncated": frozenset({"truncated", "call_truncated"}),
    "stream_truncated": frozenset({"stream_unfinished"}),
    "stream_error": frozenset({"error_in_stream"}),
    "upstream_timeout": frozenset({"upstream_timeout", "upstream_idle"}),
    "tool_unknown": frozenset({"unknown_tool"}),
    "tool_args_json": frozenset({"arguments_not_json"}),
    "tool_args_schema": frozenset({"arguments_violate_schema"}),
    "tool_call_in_content": frozenset({"call_in_text"}),
    "tool_call_in_reasoning": frozenset({"call_in_reasoning"}),
    "length": frozenset({"too_short", "too_long", "blank"}),
    "tool_missing": frozenset({"missing_call"}),
    "evidence": frozenset(
        {"evidence_number", "evidence_unit", "evidence_date", "evidence_quotation"}
    ),
    "thin_input": frozenset({"overconfident"}),
}


def check_fault(wanted: str, seen: Seen) -> Iterable[Finding]:
    """The first fault of every exchange is of the class, and the metric counts it."""
    special = _SPECIAL.get(wanted)
    if special is not None:
        for exchange in seen.exchanges:
            if not special(exchange):
                yield Wrong(f"fault: no {wanted} in the record: {_short(exchange.record)}")
        return
    classes = _CLASSES.get(wanted, frozenset({wanted}))
    for exchange in seen.exchanges:
        found = list(_faults(exchange))
        if not found or found[0] not in classes:
            yield Wrong(f"fault: wanted one of {sorted(classes)} first, found {found}")
    counted = sum(grown(seen, "faults_total", fault=name) for name in classes)
    repaired = sum(grown(seen, "repairs_total", repair=name) for name in classes)
    if not counted + repaired:
        yield Wrong(f"fault: no metric counts {wanted}")


def _faults(exchange: Exchange) -> Iterable[str]:
    for attempt in exchange.attempts:
        yield from attempt.get("faults", ())
    yield from exchange.record.get("repairs", ())


def _is_client_s(exchange: Exchange) -> bool:
    """The client's fault: refused by us or by the upstream, and no gate blamed the model."""
    return exchange.record.get("outcome") == "refused" and not list(_faults(exchange))


def _is_schema_refused(exchange: Exchange) -> bool:
    errors = exchange.told.errors
    param = str(errors[0].get("param")) if errors else ""
    return _is_client_s(exchange) and param.startswith(("response_format", "structured_outputs"))


def _had_server_error(exchange: Exchange) -> bool:
    return any(
        attempt["result"] == "upstream_fault" and attempt["status"] >= _SERVER_ERROR
        for attempt in exchange.attempts
    )


_SPECIAL: Final[Mapping[str, Callable[[Exchange], bool]]] = {
    "client_request": _is_client_s,
    "schema_rejected": _is_schema_refused,
    "upstream_5xx": _had_server_error,
}


def _short(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record.get(name) for name in ("outcome", "error_code", "attempts")}
