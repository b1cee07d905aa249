import json
from typing import Any

import pytest

from proxy.errors import Fault
from proxy.gates.base import Repair
from proxy.gates.call_arguments import ArgumentsReader, Sound, Unsound
from proxy.gates.json_prefix import Limits
from proxy.gates.schema import CompiledSchema, compile_schema

COERCIONS = (Repair.JSON_STRING, Repair.NUMBER_STRING)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "metric": {"type": "boolean"},
        "at": {"$ref": "#/$defs/place"},
        "a/~b": {"type": "array", "items": {"type": "number"}},
    },
    "additionalProperties": False,
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"zip": {"type": "string"}, "height": {"type": "number"}},
            "required": ["zip"],
        }
    },
}
LIMITS = Limits(max_depth=4, max_bytes=400, max_whitespace_run=400, max_integer_digits=20)


def _schema(**changes: Any) -> CompiledSchema:
    return compile_schema(json.dumps({**SCHEMA, **changes}).encode())


def _read(text: str, *repairs: Repair, schema: CompiledSchema | None = None) -> Sound | Unsound:
    return ArgumentsReader(LIMITS, repairs).read(text, schema or _schema())


@pytest.mark.parametrize(
    "text", ["{}", ' {"city": "Ulm", "days": 2.0} ', '{"at": {"zip": "89073"}}', '{"city":"{}"}']
)
def test_arguments_that_fit_stay_as_they_are(text: str) -> None:
    assert _read(text, *Repair) == Sound()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{'city': 'Ulm'}", id="single-quotes"),
        pytest.param("city=Ulm", id="no-json"),
        pytest.param('{"city":"Ulm"}{"city":"Ulm"}', id="twice"),
        pytest.param('{"city":"a","city":"a"}', id="duplicate-key"),
        pytest.param('{"days":NaN}', id="nan"),
        pytest.param('{"city":"\\ud83d"}', id="lone-surrogate"),
        pytest.param('{"days":' + "1" * 21 + "}", id="digits"),
        pytest.param('{"a/~b":[[[[1]]]]}', id="depth"),
        pytest.param('{"city":"' + "a" * 400 + '"}', id="size"),
    ],
)
def test_arguments_that_are_no_strict_json_fail(text: str) -> None:
    reading = _read(text, *Repair)

    assert isinstance(reading, Unsound)
    assert (reading.fault, reading.is_begun) == (Fault.ARGUMENTS_NOT_JSON, False)
    assert reading.predicate.startswith("is not one strict JSON object: ")


def test_beginning_of_json_is_told_apart() -> None:
    reading = _read('{"city":"Ul')

    assert isinstance(reading, Unsound)
    assert (reading.fault, reading.is_begun) == (Fault.ARGUMENTS_NOT_JSON, True)


@pytest.mark.parametrize("text", ["", " \n", "null", " null "])
def test_nothing_becomes_an_empty_object_where_that_is_allowed_and_fits(text: str) -> None:
    empty = Unsound(Fault.ARGUMENTS_NOT_JSON, "is empty, not a JSON object", is_empty=True)

    assert _read(text, Repair.EMPTY_ARGUMENTS) == Sound("{}", (Repair.EMPTY_ARGUMENTS,))
    assert _read(text, *COERCIONS) == empty
    assert _read(text, *Repair, schema=_schema(required=["city"])) == empty


def test_without_a_schema_any_object_will_do() -> None:
    reader = ArgumentsReader(LIMITS, (Repair.EMPTY_ARGUMENTS,))

    assert reader.read('{"any": 1}', None) == Sound()
    assert reader.read("", None) == Sound("{}", (Repair.EMPTY_ARGUMENTS,))
    assert reader.read("[]", None) == Unsound(
        Fault.ARGUMENTS_VIOLATE_SCHEMA, "is not a JSON object"
    )


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"city":7}', "/city"),
        ('{"days":"two"}', "/days"),
        ('{"town":"Ulm"}', ""),
        ('{"at":{}}', "/at"),
        ('{"at":"{\\"zip\\":\\"89073\\"}"}', "/at"),
        ("[]", ""),
        ('"{}"', ""),
    ],
)
def test_violation_leads_to_its_place(text: str, pointer: str) -> None:
    reading = _read(text)

    assert isinstance(reading, Unsound)
    assert (reading.fault, reading.pointer) == (Fault.ARGUMENTS_VIOLATE_SCHEMA, pointer)


@pytest.mark.parametrize(
    ("text", "coerced", "repairs"),
    [
        pytest.param(
            '{ "at": "{\\"zip\\": \\"89073\\"}", "city": "7"}',
            '{ "at": {"zip": "89073"}, "city": "7"}',
            (Repair.JSON_STRING,),
            id="object",
        ),
        pytest.param(
            '{"a/~b":"[1.50, 2]"}', '{"a/~b":[1.50, 2]}', (Repair.JSON_STRING,), id="list"
        ),
        pytest.param(
            '{"a/~b":[1, "2.50"]}', '{"a/~b":[1,2.50]}', (Repair.NUMBER_STRING,), id="item"
        ),
        pytest.param(
            '{"days":"3","metric":"true"}',
            '{"days":3,"metric":true}',
            (Repair.NUMBER_STRING,) * 2,
            id="number-and-boolean",
        ),
        pytest.param('"{\\"city\\":\\"Ulm\\"}"', '{"city":"Ulm"}', (Repair.JSON_STRING,), id="all"),
        pytest.param(
            '{"at":"{\\"zip\\":\\"89073\\",\\"height\\":\\"4.0\\"}"}',
            '{"at":{"zip":"89073","height":4.0}}',
            COERCIONS,
            id="number-within-an-object",
        ),
    ],
)
def test_string_that_spells_a_value_that_fits_is_unpacked(
    text: str, coerced: str, repairs: tuple[Repair, ...]
) -> None:
    assert _read(text, *COERCIONS) == Sound(coerced, repairs)
    assert isinstance(_read(text), Unsound)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"days":"3.5"}', id="does-not-fit"),
        pytest.param('{"days":" 3"}', id="blank"),
        pytest.param('{"days":"03"}', id="leading-zero"),
        pytest.param('{"days":"three"}', id="word"),
        pytest.param('{"days":"null"}', id="null"),
        pytest.param('{"days":"\\"3\\""}', id="string-in-a-string"),
        pytest.param('{"at":"{\\"zip\\":1}"}', id="object-does-not-fit"),
        pytest.param('{"at":"{\\"zip\\":\\"1\\",\\"zip\\":\\"1\\"}"}', id="object-not-strict"),
        pytest.param('{"at":"[[[[]]]]"}', id="too-deep-then"),
        pytest.param('{"city":7}', id="no-string"),
        pytest.param('{"town":"7"}', id="unknown-member"),
    ],
)
def test_string_that_does_not_spell_what_fits_stays(text: str) -> None:
    assert _read(text, *COERCIONS) == _read(text)


def test_unpacked_document_keeps_the_limits() -> None:
    schema = compile_schema(b'{"properties":{"a":{"properties":{"b":{"type":"array"}}}}}')
    text = '{"a":{"b":"[[[1]]]"}}'

    assert isinstance(_read(text, *COERCIONS, schema=schema), Unsound)
    assert isinstance(ArgumentsReader(Limits(), COERCIONS).read(text, schema), Sound)


def test_coercions_of_one_call_are_bounded() -> None:
    text = json.dumps({"a/~b": ["1"] * 65})
    reader = ArgumentsReader(Limits(), COERCIONS)

    assert isinstance(reader.read(text, _schema()), Unsound)
    assert isinstance(reader.read(text.replace('"1", ', "", 1), _schema()), Sound)


def test_shortened_pointer_leads_nowhere() -> None:
    name = "n" * 300
    schema = compile_schema(json.dumps({"properties": {name: {"type": "integer"}}}).encode())

    reading = ArgumentsReader(Limits(), COERCIONS).read(json.dumps({name: "1"}), schema)

    assert isinstance(reading, Unsound)
