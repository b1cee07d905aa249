"""Generated schemas and documents, sound and damaged: the verdict is plain jsonschema's."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from proxy.gates.schema import compile_schema
from tests.gates.schema_strategies import DIALECTS, damaged, fitting, schemas


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=60)
def test_generated_schema_decides_as_in_plain_jsonschema(dialect: str, data: st.DataObject) -> None:
    schema = data.draw(schemas(dialect))
    document = data.draw(fitting(schema))
    documents = [document, data.draw(damaged(document))]
    plain = validator_for(schema)(schema)
    compiled = compile_schema(json.dumps(schema).encode())

    verdicts = [compiled.validate(each) is None for each in documents]

    assert not compiled.unchecked
    assert verdicts == [plain.is_valid(each) for each in documents]
