"""The options of the gate `abstain`, and the names of what it finds."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proxy.gates.evidence.sources import SourceOption
from proxy.gates.option_error import BadOption

NAME: Final = "abstain"
OVERCONFIDENT: Final = "overconfident"
NEEDLESS: Final = "needless"

_Language: TypeAlias = Literal["de", "en", "fr", "it"]
_Phrase: TypeAlias = Annotated[str, Field(min_length=3, max_length=200, pattern=r"\S.*\S")]


class ThinOptions(BaseModel):
    """Sizes of all sources together: distinct content words and numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    always_below: Annotated[
        int, Field(ge=0, le=10_000, description="Sources of less substance are thin.")
    ] = 12
    below: Annotated[
        int,
        Field(ge=0, le=10_000, description="So are these, if the answer says more than they do."),
    ] = 60

    @model_validator(mode="after")
    def _are_in_order(self) -> "ThinOptions":
        if self.below < self.always_below:
            message = f"is {self.below}, below `always_below` ({self.always_below})"
            raise BadOption(message, "write the larger number at `below`", ("below",))
        return self


class AbstainOptions(BaseModel):
    """Without `sources`, those of the gate `evidence` of the same policy are taken."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: Annotated[
        tuple[SourceOption, ...],
        Field(description="Which parts of a request are evidence. Default: those of `evidence`."),
    ] = ()
    thin: ThinOptions = ThinOptions()
    phrases: Annotated[
        dict[_Language, tuple[_Phrase, ...]],
        Field(description="Words that abstain, beside those that are built in."),
    ] = {}
