import json

import pytest

from proxy.errors import InvalidRequest
from proxy.gates.json_promise import Format, JsonPromise, compile_promise, read_promise

SCHEMA = {"type": "object", "required": ["a"]}


def _read(
    response_format: object = None,
    structured_outputs: object = None,
    formats: tuple[Format, ...] = tuple(Format),
) -> JsonPromise | None:
    return read_promise(
        b"" if response_format is None else json.dumps(response_format).encode(),
        b"" if structured_outputs is None else json.dumps(structured_outputs).encode(),
        formats,
    )


def _use(response_format: object = None, structured_outputs: object = None) -> None:
    promise = _read(response_format, structured_outputs)
    assert promise is not None
    compile_promise(promise)


def _accepts(promise: JsonPromise | None, document: object) -> bool:
    assert promise is not None
    schema = compile_promise(promise)
    assert schema is not None
    return schema.validate(document) is None


@pytest.mark.parametrize(
    ("response_format", "structured_outputs"),
    [
        pytest.param(
            {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}},
            None,
            id="schema",
        ),
        pytest.param(None, {"json": SCHEMA}, id="structured-outputs"),
        pytest.param(None, {"json": json.dumps(SCHEMA)}, id="structured-outputs-as-a-string"),
        pytest.param({"type": "text"}, {"json": SCHEMA}, id="structured-outputs-beside-text"),
        pytest.param(
            {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
            {"json": {"type": "null"}},
            id="response-format-wins",
        ),
    ],
)
def test_schema_is_read(response_format: object, structured_outputs: object) -> None:
    promise = _read(response_format, structured_outputs)

    assert _accepts(promise, {"a": 1})
    assert not _accepts(promise, {})


@pytest.mark.parametrize(
    ("response_format", "structured_outputs"),
    [({"type": "json_object"}, None), (None, {"json_object": True})],
)
def test_object_without_a_schema_is_read(
    response_format: object, structured_outputs: object
) -> None:
    assert _read(response_format, structured_outputs) == JsonPromise(must_be_object=True)


@pytest.mark.parametrize("json_schema", [{"name": "x"}, {"schema": None}])
def test_without_a_schema_any_document_will_do(json_schema: object) -> None:
    promise = _read({"type": "json_schema", "json_schema": json_schema})

    assert promise == JsonPromise(schema=None, must_be_object=False)


@pytest.mark.parametrize(
    ("response_format", "structured_outputs"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param({"type": "text"}, None, id="text"),
        pytest.param({"type": "structural_tag", "structures": []}, None, id="unknown-type"),
        pytest.param(None, {"choice": ["a"]}, id="choice"),
        pytest.param(None, {"regex": "a+"}, id="regex"),
        pytest.param(None, {"grammar": "root ::= x"}, id="grammar"),
        pytest.param(None, {"json_object": False}, id="no-object"),
    ],
)
def test_other_requests_promise_nothing(
    response_format: object, structured_outputs: object
) -> None:
    assert _read(response_format, structured_outputs) is None


@pytest.mark.parametrize(
    ("response_format", "structured_outputs", "without"),
    [
        ({"type": "json_object"}, None, Format.JSON_OBJECT),
        ({"type": "json_schema", "json_schema": "broken"}, None, Format.JSON_SCHEMA),
        (None, {"json": "broken"}, Format.STRUCTURED_OUTPUTS),
    ],
)
def test_format_that_the_policy_leaves_out_promises_nothing(
    response_format: object, structured_outputs: object, without: Format
) -> None:
    formats = tuple(each for each in Format if each is not without)

    assert _read(response_format, structured_outputs, formats) is None


@pytest.mark.parametrize(
    ("response_format", "structured_outputs", "param"),
    [
        pytest.param("json", None, "response_format", id="no-object"),
        pytest.param({}, None, "response_format.type", id="no-type"),
        pytest.param({"type": 5}, None, "response_format.type", id="type-is-a-number"),
        pytest.param(
            {"type": "json_schema"}, None, "response_format.json_schema", id="no-json-schema"
        ),
        pytest.param(
            {"type": "json_schema", "json_schema": {"schema": {"type": "x"}}},
            None,
            "response_format.json_schema.schema",
            id="invalid-schema",
        ),
        pytest.param(
            {"type": "json_schema", "json_schema": {"schema": "{}"}},
            None,
            "response_format.json_schema.schema",
            id="schema-is-a-string",
        ),
        pytest.param(None, ["json"], "structured_outputs", id="structured-outputs-is-a-list"),
        pytest.param(None, {"json": 5}, "structured_outputs.json", id="json-is-a-number"),
        pytest.param(None, {"json": "{"}, "structured_outputs.json", id="json-is-broken"),
        pytest.param(None, {"json": "\ud83d"}, "structured_outputs.json", id="json-is-half-a-pair"),
        pytest.param({"type": "text", "x": "y" * 400_000}, None, "response_format", id="too-large"),
    ],
)
def test_unusable_promise_is_refused_with_its_member(
    response_format: object, structured_outputs: object, param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _use(response_format, structured_outputs)

    assert refused.value.param == param


def test_refusal_of_a_schema_names_the_pointer() -> None:
    schema = {"properties": {"a": {"$ref": "http://169.254.169.254/latest/meta-data"}}}

    with pytest.raises(InvalidRequest, match=r"at /properties/a/\$ref"):
        _use({"type": "json_schema", "json_schema": {"schema": schema}})


def test_unreadable_member_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="not readable"):
        read_promise(b"[" * 100_000, b"", tuple(Format))
