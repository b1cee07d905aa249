"""What the models of configuration files share."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from proxy.contract.known_words import NOT_AVAILABLE
from proxy.yaml_places import KeyPath


class Section(BaseModel):
    """A part of a configuration file: frozen, exact in types, no unknown keys.

    A key with nothing after it is an empty part, so that its lines may be commented out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_empty(cls, value: Any) -> Any:
        return {} if value is None else value


class CheckFailed(ValueError):
    """A check of ours inside a model; the message reads on from the key's name ("must be ...").

    `at` leads from the checked value to the part at fault.
    """

    def __init__(self, message: str, remedy: str, at: KeyPath = ()) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.at = at


def not_yet(instead: Mapping[str, str]) -> BeforeValidator:
    """Refuse words that are known but not built yet; `instead` says what to write for each."""

    def check(value: Any) -> Any:
        word = value.partition(":")[0] if isinstance(value, str) else ""
        if word in instead:
            message = f"cannot be `{value}`: {NOT_AVAILABLE}"
            raise CheckFailed(message, f"write `{instead[word]}` instead")
        return value

    return BeforeValidator(check)
