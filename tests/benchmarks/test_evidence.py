"""The evidence benchmark as a command, on rows made here."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "Die Stiftung vergab 2024 in Bern 1'500 Stipendien und 250 Preise. Sie besteht seit 1987."
ROWS: list[dict[str, Any]] = [
    {"answer": "Die Stiftung vergab 1500 Stipendien.", "label": "supported", "kind": "extract"},
    {"answer": "Die Stiftung vergab 50 Preise.", "label": "unsupported", "kind": "wrong_number"},
    {"answer": "Marlee Matlin vergab Preise.", "label": "unsupported", "kind": "name_swap"},
]


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.evidence",
        *arguments,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    common = {"source": SOURCE, "lang": "de", "origin": "handmade"}
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(common | row) for row in ROWS))
    return path


async def test_figures_are_counted_by_target_part_and_kind(rows: Path) -> None:
    status, output = await run(str(rows), "--json", "--no-times")

    report = json.loads(output)
    targets = {target["name"]: target for target in report["targets"]}
    assert (status, report["rows"], report["times_ms"]) == (0, 3, {})
    assert targets["typed: recall"]["value"] == 0.5
    assert targets["typed: recall"]["verdict"] == "met"
    assert targets["typed and names: recall"]["value"] == 1
    assert targets["typed: precision"]["low"] < 0.95
    assert targets["thin input: caught"]["verdict"] == "not measured"
    assert {part["name"] for part in report["parts"]["kind"]} == {row["kind"] for row in ROWS}
    assert {"kind": "number", "flagged": 1, "unsupported": 1} in report["findings"]


async def test_tables_have_targets_parts_and_times(rows: Path) -> None:
    status, output = await run(str(rows))

    assert status == 0
    for line in ("| typed: specificity | 1.000", "| handmade | 1 | 2 |", "| 60,000 |"):
        assert line in output


async def test_file_without_rows_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text("\n")

    assert (await run(str(path)))[0] == 2
