"""The options of the gate `evidence`, apart from the gate: a policy may be read without it."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from proxy.gates.evidence.findings import Kind, Rounding
from proxy.gates.evidence.judge_options import JudgeOptions
from proxy.gates.evidence.model_options import ModelOptions
from proxy.gates.evidence.sources import SourceOption

NAME: Final = "evidence"
TYPED_LADDER: Final = "typed"
SOFT_LADDER: Final = "soft"

_Typed: TypeAlias = Literal[
    Kind.NUMBER,
    Kind.UNIT,
    Kind.DATE,
    Kind.VERSION,
    Kind.IDENTIFIER,
    Kind.URL,
    Kind.QUOTATION,
]
_Soft: TypeAlias = Literal[Kind.NAME, Kind.CAUSAL, Kind.NEGATION, Kind.NEW_WORDS]


class TypedOptions(BaseModel):
    """Details that can be compared exactly."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: Annotated[tuple[_Typed, ...], Field(description="Which details; empty: none.")] = (
        Kind.NUMBER,
        Kind.UNIT,
        Kind.DATE,
        Kind.VERSION,
        Kind.IDENTIFIER,
        Kind.URL,
        Kind.QUOTATION,
    )


class SoftOptions(BaseModel):
    """Hints, which a faithful paraphrase may give as well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: Annotated[tuple[_Soft, ...], Field(description="Which hints; empty: none.")] = (
        Kind.NAME,
        Kind.CAUSAL,
        Kind.NEGATION,
        Kind.NEW_WORDS,
    )


class EvidenceOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: Annotated[
        tuple[SourceOption, ...],
        Field(min_length=1, description="Which parts of a request are evidence."),
    ]
    languages: Annotated[
        tuple[Literal["de", "en"], ...],
        Field(description="Whose words are compared; of others only numbers, dates and codes."),
    ] = ("de", "en")
    rounding: Annotated[
        Rounding,
        Field(
            description="hedged: a rounded value needs a word such as `rund` or `about`; free: it "
            "needs none; exact: no rounded value is borne."
        ),
    ] = Rounding.HEDGED
    typed: TypedOptions = TypedOptions()
    soft: SoftOptions = SoftOptions()
    model: Annotated[
        ModelOptions | None, Field(description="A local model that may drop or give hints.")
    ] = None
    judge: Annotated[
        JudgeOptions | None, Field(description="Whom the step `judge` of `soft` asks.")
    ] = None
