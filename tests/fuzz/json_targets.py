"""What must hold of strict JSON reading and of schemas, for any bytes."""

import json
import re
from typing import Any

from jsonschema.validators import Draft202012Validator, validator_for

from proxy.gates.json_prefix import Finding, Limits, PrefixReader, scan
from proxy.gates.schema import SchemaBounds, Undecided, compile_schema
from proxy.gates.schema_references import InvalidSchema
from proxy.gates.strict_reading import Document, read_document
from tests.fuzz.independent import read_strict
from tests.fuzz.wire_targets import cuts_of

WIDE = Limits(max_depth=250, max_bytes=1 << 20, max_whitespace_run=5_000, max_integer_digits=4_000)
TIGHT = Limits(max_depth=3, max_bytes=60, max_whitespace_run=3, max_integer_digits=5)
MIDDLE = Limits(max_depth=4, max_bytes=200, max_whitespace_run=12, max_integer_digits=20)
BOUNDS = SchemaBounds(max_steps=20_000)
KNOWN_DRAFTS = (
    [],
    *([f"http://json-schema.org/draft-0{number}/schema#"] for number in (4, 6, 7)),
    *([f"https://json-schema.org/draft/{name}/schema"] for name in ("2019-09", "2020-12")),
)
DOCUMENTS: tuple[Any, ...] = (None, 1, 1.5, "a", [], [1, 1.0], {}, {"a": 1, "b": {"a": []}})


def strict_json(data: bytes) -> None:
    """Every reading of a text agrees, in any split, with the standard library's made strict."""
    text = data.decode("utf-8", "surrogateescape")
    pieces = [text[begin:end] for begin, end in cuts_of(data, len(text))]
    try:
        expected: Document | None = Document(read_strict(text))
    except (ValueError, RecursionError):
        expected = None

    for limits in (WIDE, MIDDLE, TIGHT):
        finding = scan(text, limits)
        assert _read_in(pieces, limits) == finding, pieces
        assert _read_in(list(text), limits) == finding
        reading = read_document(text, limits)
        assert reading == finding or (finding is None and reading == expected), reading
    deep = text.count("[") + text.count("{") > WIDE.max_depth
    assert deep or (scan(text, WIDE) is None) == (expected is not None), expected


def schema(data: bytes) -> None:
    """The first line is a schema or refused as one; the others are documents that it decides."""
    raw, *lines = data.split(b"\n")
    try:
        compiled = compile_schema(raw, BOUNDS)
    except InvalidSchema:
        return
    for document in (*DOCUMENTS, *_documents(lines)):
        try:
            violation = compiled.validate(document)
        except Undecided:
            continue
        if violation is not None:
            assert len(violation.message) + len(violation.pointer) < 1_000
            json.dumps(violation.message, ensure_ascii=False).encode()
        if not compiled.unchecked:
            _agree(json.loads(raw), document, fits=violation is None)


def _read_in(pieces: list[str], limits: Limits) -> Finding | None:
    reader = PrefixReader(limits)
    for piece in pieces:
        reader.feed(piece)
    return reader.finish()


def _documents(lines: list[bytes]) -> list[Any]:
    documents = []
    for line in lines:
        try:
            documents.append(read_strict(line.decode()))
        except (ValueError, RecursionError):
            continue
    return documents


def _agree(schema: Any, document: Any, *, fits: bool) -> None:
    """Left out is where the two differ on purpose: patterns, drafts of parts, unknown drafts.

    Plain jsonschema also misreads what is unevaluated in draft 2019-09.
    """
    text = json.dumps(schema)
    drafts = re.findall(r'"\$schema": "([^"]*)"', text)
    unlike = r'"pattern(Properties)?"' + ('|"unevaluated' if "2019-09" in text else "")
    if re.search(unlike, text) or drafts not in KNOWN_DRAFTS:
        return
    try:
        plain = validator_for(schema, default=Draft202012Validator)(schema)
        is_valid = plain.is_valid(document)
    except Exception:  # noqa: BLE001 - what plain jsonschema cannot decide decides nothing
        return
    assert is_valid == fits, (schema, document)
