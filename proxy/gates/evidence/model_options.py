"""The options of evidence's local model, apart from it: a policy may be read without the gate."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proxy.gates.option_error import BadOption

LIBRARIES: Final = ("onnxruntime", "tokenizers")


def demand(libraries: Iterable[str]) -> None:
    """Raises `BadOption` for a library that is not installed. None is imported for that."""
    for name in libraries:
        if find_spec(name) is None:
            raise BadOption(f"needs the library {name}", "install `sluicegate[onnx]`")


class ModelOptions(BaseModel):
    """A user's own ONNX encoder that says how likely sentences bear a claim."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[
        str, Field(min_length=1, description="The model, ONNX; it reads a pair of texts.")
    ]
    tokenizer: Annotated[str, Field(min_length=1, description="Its tokenizer.json.")]
    label: Annotated[
        int,
        Field(ge=0, le=99, description="Which of its outputs means that the claim is borne."),
    ] = 0
    max_tokens: Annotated[
        int, Field(ge=16, le=8192, description="For sentences and claim together.")
    ] = 512
    clear_above: Annotated[
        float, Field(ge=0, le=1, description="At this probability and above, a hint is dropped.")
    ] = 0.9
    raise_below: Annotated[
        float,
        Field(ge=0, le=1, description="Below this one a sentence becomes a hint; 0: never."),
    ] = 0.0

    @model_validator(mode="after")
    def _can_be_loaded(self) -> "ModelOptions":
        demand(LIBRARIES)
        if self.raise_below >= self.clear_above:
            message = f"is {self.raise_below:g}, but must be below `clear_above`"
            raise BadOption(message, "change one of the two", ("raise_below",))
        for name, path in (("file", self.file), ("tokenizer", self.tokenizer)):
            if not Path(path).is_file():
                raise BadOption(f"names no file: {path}", "check the path", (name,))
        return self
