from pydantic import BaseModel, ValidationError, field_validator

from proxy.contract.model_problems import Origin, problems_of
from proxy.gates.option_error import BadOption
from proxy.yaml_places import parse_yaml


class _Options(BaseModel):
    sizes: list[int]

    @field_validator("sizes")
    @classmethod
    def _rise(cls, sizes: list[int]) -> list[int]:
        if sizes != sorted(sizes):
            raise BadOption("falls", "write the smaller one first", (1,))
        return sizes


def test_wrong_option_is_told_with_place_and_remedy() -> None:
    document = parse_yaml(b"sizes:\n  - 2\n  - 1\n", "p.yaml")

    try:
        _Options.model_validate(document.data)
    except ValidationError as error:
        (problem,) = problems_of(error, _Options, Origin(document.places))

    assert str(problem) == "p.yaml:3:5: `sizes[1]` falls (write the smaller one first)"
