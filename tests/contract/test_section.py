from typing import Annotated, Literal

import pytest
from pydantic import ValidationError

from proxy.contract.section import CheckFailed, Section, not_yet


class Inner(Section):
    count: int = 1


class Outer(Section):
    inner: Inner = Inner()
    word: Annotated[Literal["deliver"], not_yet({"flag": "deliver", "escalate": "deliver"})] = (
        "deliver"
    )


def test_key_with_nothing_after_it_is_an_empty_part() -> None:
    assert Outer.model_validate({"inner": None}) == Outer()


def test_types_are_exact() -> None:
    with pytest.raises(ValidationError):
        Inner.model_validate({"count": "1"})


@pytest.mark.parametrize(
    "word", [pytest.param("flag", id="plain"), pytest.param("escalate:big", id="with a lane")]
)
def test_word_of_a_later_version_says_what_to_write_instead(word: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"word": word})

    failed = caught.value.errors()[0]["ctx"]["error"]
    assert isinstance(failed, CheckFailed)
    assert str(failed) == f"cannot be `{word}`: not available in this version"
    assert failed.remedy == "write `deliver` instead"
