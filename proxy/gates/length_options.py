"""The options of the gate `length`, and which of them contradict each other."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from proxy.gates.option_error import BadOption
from proxy.gates.text_path import InvalidPath
from proxy.gates.text_targets import WHOLE, TextTarget
from proxy.gates.text_units import Unit

NAME: Final = "length"

Markup: TypeAlias = Literal["none", "markdown", "html"]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]


class LengthTarget(BaseModel):
    """How long one text of a reply must be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: Annotated[
        str, Field(description="`text`, the whole reply that is not JSON, or a path: $.title.")
    ]
    unit: Unit
    min: Annotated[Count | None, Field(description="Fewer are a fault.")] = None
    max: Annotated[Count | None, Field(description="More are a fault.")] = None
    aim: Annotated[
        tuple[Count, Count] | None, Field(description="What a re-ask names; never a fault.")
    ] = None

    @field_validator("of")
    @classmethod
    def _is_target(cls, of: str) -> str:
        try:
            TextTarget(of)
        except InvalidPath as error:
            remedy = f"write `{WHOLE}`, or a path such as $.title or $.tags[*]"
            raise BadOption(str(error), remedy) from error
        return of

    @field_validator("max")
    @classmethod
    def _is_above_min(cls, most: int | None, info: ValidationInfo) -> int | None:
        least = info.data.get("min")
        if most is not None and least is not None and most < least:
            raise BadOption(f"is {most}, but `min` is {least}", "no text could be right: swap them")
        return most

    @field_validator("aim")
    @classmethod
    def _is_within(
        cls, aim: tuple[int, int] | None, info: ValidationInfo
    ) -> tuple[int, int] | None:
        if aim is None:
            return None
        if aim[0] > aim[1]:
            raise BadOption(f"runs from {aim[0]} down to {aim[1]}", "write the smaller one first")
        least, most = info.data.get("min"), info.data.get("max")
        if (least or 1) > aim[0] or (most is not None and most < aim[1]):
            limits = f"{least or 1} to {most or 'any'}"
            message = f"is {aim[0]} to {aim[1]}, outside the limits {limits}"
            raise BadOption(message, "aim between `min` and `max`")
        return aim

    @model_validator(mode="after")
    def _has_limit(self) -> "LengthTarget":
        if self.min is None and self.max is None:
            raise BadOption("limits nothing", "add `min`, `max` or both")
        return self


class LengthOptions(BaseModel):
    """Limits on texts. `strip`: the mark-up that does not count."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strip: Annotated[Markup, Field(description="Mark-up that does not count.")] = "none"
    targets: Annotated[
        tuple[LengthTarget, ...],
        Field(
            min_length=1, max_length=64, description="All must hold; an absent field is skipped."
        ),
    ]
    trim: Annotated[
        Literal["none", "sentence"],
        Field(
            description="sentence: when no attempt is left, a whole text that is too long ends "
            "at its last sentence that fits."
        ),
    ] = "none"

    @field_validator("targets")
    @classmethod
    def _can_all_hold(cls, targets: tuple[LengthTarget, ...]) -> tuple[LengthTarget, ...]:
        """Several limits on one text in one unit must leave something between them."""
        known: dict[tuple[str, Unit], tuple[int, int | None]] = {}
        for position, target in enumerate(targets):
            key = target.of, target.unit
            least, most = known.get(key, (1, None))
            least = max(least, target.min or 1)
            limits = [each for each in (most, target.max) if each is not None]
            most = min(limits, default=None)
            if most is not None and most < least:
                message = f"cannot hold beside an earlier one: at least {least}, at most {most}"
                remedy = f"give `{target.of}` one target in {target.unit}"
                raise BadOption(message, remedy, (position,))
            known[key] = least, most
        return targets

    @field_validator("trim")
    @classmethod
    def _has_something_to_trim(cls, trim: str, info: ValidationInfo) -> str:
        if trim == "none" or "targets" not in info.data:
            return trim
        if info.data.get("strip") == "html":
            raise BadOption("cannot be `sentence` for HTML", "write `trim: none`")
        if not _can_be_trimmed(info.data):
            message = f"has nothing to do: no target `{WHOLE}` has a `max` that is not in tokens"
            raise BadOption(message, "write `trim: none`, or add such a target")
        return trim


def _can_be_trimmed(data: Mapping[str, Any]) -> bool:
    targets: tuple[LengthTarget, ...] = data["targets"]
    return any(
        target.of == WHOLE and target.max is not None and target.unit is not Unit.TOKENS
        for target in targets
    )
