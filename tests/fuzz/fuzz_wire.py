"""Fuzzes one target with atheris: `python -m tests.fuzz.fuzz_wire TARGET [libFuzzer options]`.

Without folders among the options the target's committed corpus is the seed, and nothing is written
to it. A crash leaves its input in the working directory, or where `-artifact_prefix=` says.
"""

import re
import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["proxy", "jsonschema", "referencing"]):
    from tests.fuzz.json_mutation import mutate_json
    from tests.fuzz.targets import TARGETS

HERE = Path(__file__).parent
LONGEST_INPUT = 4_096
SHARE_OF_TREES = 0.5


def main() -> None:
    """Read the target's name from the command line and fuzz until told to stop."""
    name, *options = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"usage: python -m tests.fuzz.fuzz_wire {'|'.join(TARGETS)} [options]")
    target = TARGETS[name]
    words_file = HERE / "words" / f"{target.words}.dict"
    words = tuple(re.findall(r'^"(\$?\w+)"$', words_file.read_text(encoding="utf-8"), re.MULTILINE))

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        luck = Random(seed)  # noqa: S311 - no secret
        if luck.random() < SHARE_OF_TREES:
            changed = mutate_json(data, words, luck)
            if changed is not None and len(changed) <= max_size:
                return changed
        return bytes(atheris.Mutate(data, max_size))

    with tempfile.TemporaryDirectory() as found:
        folders = [option for option in options if not option.startswith("-")]
        seeds = folders or [found, str(HERE / "corpus" / name)]
        rest = [option for option in options if option.startswith("-")]
        arguments = [f"-dict={words_file}", f"-max_len={LONGEST_INPUT}", "-timeout=10", *rest]
        mutator = {"custom_mutator": mutate} if target.holds_json else {}
        atheris.Setup([sys.argv[0], *arguments, *seeds], target.check, **mutator)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
