"""Every committed input of the fuzzing passes its target; so a finding stays found."""

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
INPUTS = [
    pytest.param(name, path, id=f"{name}-{path.stem}")
    for name in TARGETS
    for path in sorted((CORPUS / name).iterdir())
]


@pytest.mark.parametrize(("name", "path"), INPUTS)
def test_committed_input_passes_its_target(name: str, path: Path) -> None:
    TARGETS[name].check(path.read_bytes())
