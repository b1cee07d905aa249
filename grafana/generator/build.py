"""`python -m grafana.generator.build` writes the dashboards; `--check` says which ones differ."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grafana.generator.contract import contract
from grafana.generator.mtp import mtp
from grafana.generator.overview import overview

DASHBOARDS: Final = Path(__file__).parents[1] / "dashboards"
_REMEDY: Final = "run `make dashboards`"


def texts() -> dict[str, str]:
    """The JSON of every dashboard by its file name."""
    built = [dashboard.json() for dashboard in (overview(), contract(), mtp())]
    return {
        f"{document['uid']}.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        for document in built
    }


def drift(folder: Path) -> list[str]:
    """What in the folder is not what the generator makes, a sentence for each file."""
    made = texts()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    wrong = [
        f"{name} is not what the generator makes" for name in made if there.get(name) != made[name]
    ]
    return wrong + [f"{name} is made by nobody" for name in sorted(there.keys() - made.keys())]


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = texts()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.json"):
        if path.name not in made:
            path.unlink()


def main(arguments: Sequence[str]) -> int:
    """0, or 1 where `--check` finds a difference."""
    parser = argparse.ArgumentParser(prog="grafana.generator.build", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--folder", type=Path, default=DASHBOARDS, help="where the JSON goes")
    options = parser.parse_args(arguments)
    if not options.check:
        write(options.folder)
        return 0
    wrong = drift(options.folder)
    for sentence in wrong:
        sys.stderr.write(f"{options.folder}: {sentence}; {_REMEDY}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
