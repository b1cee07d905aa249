"""The table of what was measured: `python -m tests.e2e.vllm.defect_report [FOLDER]`.

The tests of the defect leave their measurements in a folder of the cache; this prints them as the
table of docs/cold-start.md and leaves it beside them.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from proxy.ledger.interval import wilson_interval
from tests.e2e.vllm.defect_asking import Asked
from tests.engines.cache import Cache

TABLE: Final = "table.md"
_HEADINGS: Final = (
    "vLLM, drafts",
    "`</think>` lands as",
    "requests",
    "attempts",
    "first answer valid",
    "95 % interval",
    "cured by",
    "client got valid JSON",
)
_STEPS: Final = {"cold": "identical retry", "vary": "`vary` (thinking off)"}


class Measured(msgspec.Struct, frozen=True):
    """What one set-up of the engine showed. `engine` names its version and drafts.

    `producer`: what produced the defect; empty for a control, where there is none to produce.
    `bypassed`: how many requests of the case that breaks went to the engine without the proxy.
    """

    engine: str
    at: str
    asked: tuple[Asked, ...]
    producer: str = ""
    bypassed: int = 0
    bypassed_valid: int = 0

    def save(self, folder: Path, name: str) -> None:
        (folder / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(self)))


def folder_of(cache: Cache) -> Path:
    """Where the measurements are kept; outside of what is committed."""
    return cache.scratch("defect")


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def clear(folder: Path) -> None:
    """Forget earlier measurements, so that a table is of one run."""
    for file in folder.iterdir():
        file.unlink()


def write_report(folder: Path) -> str:
    """The table of all measurements in a folder, which is left beside them as well."""
    text = report(load(folder))
    (folder / TABLE).write_text(text)
    return text


def report(measured: Sequence[Measured]) -> str:
    """Who produced the defect, the table, and when it was measured."""
    lines = [f"The defect is produced by {each.producer}.\n" for each in measured if each.producer]
    lines += [_row(_HEADINGS), _row(["---"] * len(_HEADINGS))]
    lines += [_row(cells) for each in measured for cells in _rows(each)]
    return "\n".join([*lines, *(f"\n{note}" for note in _notes(measured))]) + "\n"


def load(folder: Path) -> list[Measured]:
    """By name of file, which is the order of the table."""
    files = sorted(folder.glob("*.json"))
    return [msgspec.json.decode(file.read_bytes(), type=Measured) for file in files]


def _rows(measured: Measured) -> Iterator[Sequence[str]]:
    for case in dict.fromkeys(asked.case for asked in measured.asked):
        yield _cells(measured.engine, case, [each for each in measured.asked if each.case == case])


def _cells(engine: str, case: str, asked: Sequence[Asked]) -> Sequence[str]:
    count = len(asked)
    valid = sum(each.first.valid for each in asked)
    cures = Counter(each.cured_by for each in asked if each.cured_by)
    return (
        engine,
        case,
        str(count),
        str(sum(len(each.attempts) for each in asked)),
        f"{valid} of {count}",
        _interval(valid, count),
        "; ".join(f"{_STEPS.get(step, step)} {times}" for step, times in cures.items())
        or "nothing to cure",
        f"{sum(each.valid for each in asked)} of {count}",
    )


def _notes(measured: Sequence[Measured]) -> Iterator[str]:
    for each in measured:
        if each.bypassed:
            yield (
                f"{each.engine}, draft, JSON at once, without the proxy: "
                f"{each.bypassed_valid} of {each.bypassed} answers valid."
            )
    yield (
        "Four tasks, streamed and not, at temperature 0 and 0.7. Where `</think>` lands is "
        "steered: the table says what follows from it, not how often it comes to that."
    )
    days = ", ".join(dict.fromkeys(each.at for each in measured))
    yield f"Measured on {days}, on the CPU."


def _interval(hits: int, trials: int) -> str:
    low, high = wilson_interval(hits, trials) or (0.0, 1.0)
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table of the last run."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else folder_of(Cache.of(os.environ))
    if not load(folder):
        sys.exit(f"no measurements in {folder}: run `make e2e`")
    sys.stdout.write(write_report(folder))


if __name__ == "__main__":
    main()
