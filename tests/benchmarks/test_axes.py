"""The requests against whose size the cost is measured."""

import json

import jsonschema
import pytest
from asks import SCHEMA
from axes import AXES, Axis
from contents import ITEMS, document
from fake_replies import Arrived


def arrived(axis: Axis, size: int) -> Arrived:
    return Arrived(b"", b"", axis.case(size).body)


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.name)
def test_every_size_is_a_request_with_something_to_count(axis: Axis) -> None:
    cases = [axis.case(size) for size in axis.sizes]

    assert all(json.loads(case.body)["messages"] for case in cases)
    assert all(case.units > 0 and case.count > 0 for case in cases)


@pytest.mark.parametrize("axis", AXES[:4], ids=lambda axis: axis.name)
def test_length_of_a_stream_is_the_number_of_its_token_events(axis: Axis) -> None:
    for size in axis.sizes:
        assert arrived(axis, size).events == axis.case(size).units == size


def test_schema_grows_and_still_accepts_the_document() -> None:
    (axis,) = (axis for axis in AXES if axis.name == "schema")

    bodies = [json.loads(axis.case(size).body) for size in axis.sizes]
    schemas = [body["response_format"]["json_schema"]["schema"] for body in bodies]

    grown = [len(schema["properties"]) - len(SCHEMA["properties"]) for schema in schemas]
    assert grown == list(axis.sizes)
    for schema in schemas:
        jsonschema.validate(json.loads(document(ITEMS)), schema)
