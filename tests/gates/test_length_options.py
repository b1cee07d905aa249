from typing import Any

import pytest
from pydantic import ValidationError

from proxy.gates.length_options import LengthOptions
from proxy.gates.option_error import BadOption


def _refused(options: dict[str, Any]) -> tuple[tuple[int | str, ...], BadOption]:
    with pytest.raises(ValidationError) as refused:
        LengthOptions.model_validate(options)
    details = refused.value.errors()[0]  # a list that is now too short is told after it
    error = details["ctx"]["error"]
    assert isinstance(error, BadOption)
    return (*details["loc"], *error.at), error


def _target(**members: Any) -> dict[str, Any]:
    return {"of": "text", "unit": "words", **members}


@pytest.mark.parametrize(
    ("target", "place", "message"),
    [
        (_target(min=12, max=6), "max", "is 6, but `min` is 12"),
        (_target(max=6, aim=[5, 2]), "aim", "runs from 5 down to 2"),
        (_target(max=6, aim=[5, 7]), "aim", "is 5 to 7, outside the limits 1 to 6"),
        (_target(min=6, aim=[5, 7]), "aim", "is 5 to 7, outside the limits 6 to any"),
        (_target(max=6, of="$.a["), "of", "the bracket is not closed"),
        (_target(max=6, of="titel"), "of", "neither `text` nor a path"),
    ],
    ids=["limits", "aim_down", "aim_above", "aim_below", "path", "word"],
)
def test_wrong_option_is_refused_where_it_stands(
    target: dict[str, Any], place: str, message: str
) -> None:
    found, error = _refused({"targets": [target]})

    assert found == ("targets", 0, place)
    assert message in str(error)
    assert error.remedy


def test_target_without_limits_is_refused() -> None:
    found, error = _refused({"targets": [_target()]})

    assert found == ("targets", 0)
    assert str(error) == "limits nothing"


def test_limits_that_no_text_can_keep_together_are_refused() -> None:
    targets = [_target(max=9), _target(of="$.a", max=3), _target(min=10)]

    found, error = _refused({"targets": targets})

    assert found == ("targets", 2)
    assert "at least 10, at most 9" in str(error)


def test_limits_on_one_text_in_different_units_stand_beside_each_other() -> None:
    targets = [_target(max=9), _target(unit="graphemes", min=10), _target(min=9)]

    assert len(LengthOptions.model_validate({"targets": targets}).targets) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": [_target(of="$.a", max=3)]}, "has nothing to do"),
        ({"targets": [_target(min=3)]}, "has nothing to do"),
        ({"targets": [_target(unit="tokens", max=3)]}, "has nothing to do"),
        ({"targets": [_target(max=3)], "strip": "html"}, "cannot be `sentence` for HTML"),
    ],
    ids=["fields", "no_maximum", "tokens", "html"],
)
def test_trimming_that_could_never_happen_is_refused(options: dict[str, Any], message: str) -> None:
    found, error = _refused({**options, "trim": "sentence"})

    assert found == ("trim",)
    assert message in str(error)


def test_a_wrong_target_is_told_once_beside_trimming() -> None:
    found, _ = _refused({"targets": [_target(min=2, max=1)], "trim": "sentence"})

    assert found == ("targets", 0, "max")


def test_key_without_a_value_is_no_limit() -> None:
    options = LengthOptions.model_validate({"targets": [_target(max=3, min=None, aim=None)]})

    assert (options.targets[0].min, options.targets[0].aim) == (None, None)


@pytest.mark.parametrize("count", [0, -1, True, 2.5, "7"])
def test_limit_is_a_whole_number_of_at_least_one(count: Any) -> None:
    with pytest.raises(ValidationError):
        LengthOptions.model_validate({"targets": [_target(max=count)]})


def test_options_survive_as_json() -> None:
    options = LengthOptions.model_validate(
        {"strip": "markdown", "trim": "sentence", "targets": [_target(min=2, max=9, aim=[3, 4])]}
    )

    assert LengthOptions.model_validate_json(options.model_dump_json()) == options
