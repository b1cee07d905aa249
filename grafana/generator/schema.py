"""`python -m grafana.generator.schema` makes the JSON Schema of dashboards from Grafana's types.

Needs Node 18 or later and npm. The versions are pinned in grafana/schema/package.json.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "schema"
MADE: Final = FOLDER / "dashboard.schema.json"
_SOURCES: Final = ("dashboard.ts", "package.json", "tsconfig.json")
_INSTALL: Final = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
_MAKE: Final = (
    *("node", "node_modules/ts-json-schema-generator/bin/ts-json-schema-generator.js"),
    *("--path", "dashboard.ts", "--tsconfig", "tsconfig.json", "--type", "SluicegateDashboard"),
    *("--no-top-ref", "--jsDoc", "none"),
)
_TIME_LIMIT_SECONDS: Final = 300


def remade(scratch: Path) -> str:
    """The schema, made anew in an empty folder.

    Raises `FileNotFoundError` without npm and Node, `subprocess.SubprocessError` where they fail.
    """
    for name in _SOURCES:
        shutil.copyfile(FOLDER / name, scratch / name)
    _run(_INSTALL, scratch)
    return _run(_MAKE, scratch)


def _run(command: tuple[str, ...], folder: Path) -> str:
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(f"{command[0]} is not installed")
    done = subprocess.run(  # noqa: S603 - a fixed command
        (program, *command[1:]),
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=_TIME_LIMIT_SECONDS,
    )
    return done.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        MADE.write_text(remade(Path(folder)), encoding="utf-8")
    sys.stdout.write(f"wrote {MADE}\n")


if __name__ == "__main__":
    main()
