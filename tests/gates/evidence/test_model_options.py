from pathlib import Path

import pytest
from pydantic import ValidationError

from proxy.gates.evidence.model_options import LIBRARIES, ModelOptions, demand
from proxy.gates.option_error import BadOption


def _files(folder: Path) -> dict[str, object]:
    names = {"file": folder / "model.onnx", "tokenizer": folder / "tokenizer.json"}
    for path in names.values():
        path.touch()
    return {name: str(path) for name, path in names.items()}


def test_two_files_are_enough(tmp_path: Path) -> None:
    options = ModelOptions.model_validate(_files(tmp_path))

    assert (options.label, options.clear_above, options.raise_below) == (0, 0.9, 0.0)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"file": "nowhere.onnx"}, "names no file: nowhere.onnx"),
        ({"tokenizer": "nowhere.json"}, "names no file: nowhere.json"),
        ({"clear_above": 0.4, "raise_below": 0.5}, "is 0.5, but must be below `clear_above`"),
        ({"clear_above": 1.5}, "less than or equal to 1"),
        ({"label": -1}, "greater than or equal to 0"),
        ({"max_tokens": 8}, "greater than or equal to 16"),
        ({"model": "x"}, "Extra inputs"),
    ],
)
def test_wrong_option_is_refused_by_what_is_wrong(
    tmp_path: Path, members: dict[str, object], told: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        ModelOptions.model_validate(_files(tmp_path) | members)

    assert told in str(caught.value)


def test_library_that_is_not_installed_is_named_with_a_remedy() -> None:
    demand(LIBRARIES)
    with pytest.raises(BadOption, match="needs the library no_such_library") as caught:
        demand(("json", "no_such_library"))

    assert caught.value.remedy == "install `sluicegate[onnx]`"
