"""The options of the gate `pattern`, apart from the gate: a policy may be read without it."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from proxy.gates.wordings import Wording

NAME: Final = "pattern"


class PatternOptions(BaseModel):
    """`language` and `placeholders` are not judged unless a policy asks for them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    require: Annotated[
        tuple[Wording, ...], Field(description="Each must be in the reply, code included.")
    ] = ()
    forbid: Annotated[tuple[Wording, ...], Field(description="None may be in the reply.")] = ()
    language: Annotated[
        Literal["as_request", "de", "en", "fr", "it"] | None,
        Field(description="The reply's language; short replies are not judged."),
    ] = None
    placeholders: Annotated[
        Literal["forbid", "allow"], Field(description="What a template leaves: [Name einsetzen].")
    ] = "allow"
