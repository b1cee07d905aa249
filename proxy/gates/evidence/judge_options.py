"""The options of evidence's judge, apart from it: a policy may be read without the gate."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

_SECONDS: Final = 4.0
_MOST_SECONDS: Final = 60.0


class JudgeOptions(BaseModel):
    """Who is asked about hints, and for how long."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lane: Annotated[
        str,
        Field(
            min_length=1,
            description="A lane of the settings; sources and claims are sent to it.",
        ),
    ]
    time_limit_seconds: Annotated[
        float,
        Field(gt=0, le=_MOST_SECONDS, description="For the one call; then the next step is taken."),
    ] = _SECONDS
