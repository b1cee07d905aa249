import pytest
from jsonschema import Draft202012Validator

from proxy.demo.imitation.schema_value import ValueMaker
from proxy.demo.load.sources import KURZTEXT, LOCK, SCHLEUSE, STATUS, TEASER
from proxy.demo.load.sources import strict as strict_format
from tests.fakes.imitation import chance


@pytest.mark.parametrize("wanted", [STATUS, TEASER, KURZTEXT], ids=["status", "teaser", "kurztext"])
def test_shapes_are_ones_the_imitation_can_answer(wanted: dict[str, dict[str, object]]) -> None:
    schema = wanted["json_schema"]["schema"]
    assert isinstance(schema, dict)

    value = ValueMaker(schema, chance()).value()

    assert Draft202012Validator(schema).is_valid(value)


def test_strict_format_demands_every_property_and_no_other() -> None:
    schema = strict_format("x", a={"type": "null"})["json_schema"]["schema"]

    assert (schema["required"], schema["additionalProperties"]) == (["a"], False)


@pytest.mark.parametrize("source", [LOCK, SCHLEUSE], ids=["en", "de"])
def test_sources_are_long_enough_not_to_be_thin(source: str) -> None:
    assert len(source.split()) > 90
