import json
from pathlib import Path
from typing import Final

import pytest

from proxy.errors import Place
from proxy.recipes.check.check import UNREADABLE
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.report import (
    CheckedFile,
    HeldAgainst,
    exit_status,
    report_json,
    report_lines,
)

AGAINST: Final = HeldAgainst("0.32.0", "pinned list")
ERROR: Final = Finding(
    Severity.ERROR, "missing-value", Place("a.yaml", 4, 2), "`--port` needs a value", "write it"
)
WARNING: Final = Finding(
    Severity.WARNING, "single-brace", Place("a.yaml", 5, 1), "a single brace", "double it"
)
NOTE: Final = Finding(
    Severity.NOTE,
    "mtp-layer-reused",
    Place("b.yaml", 1, 1),
    "the layer runs twice",
    "",
    "https://example.org/layer",
)


def checked(*findings: Finding, file: str = "a.yaml") -> CheckedFile:
    return CheckedFile(Path(file), findings)


def test_findings_are_lines_and_sources_stand_below() -> None:
    files = [checked(ERROR, WARNING), checked(NOTE, file="b.yaml"), checked(file="c.yaml")]

    assert list(report_lines(files, AGAINST)) == [
        "a.yaml:4:2: error[missing-value]: `--port` needs a value (write it)",
        "a.yaml:5:1: warning[single-brace]: a single brace (double it)",
        "",
        "b.yaml:1:1: note[mtp-layer-reused]: the layer runs twice",
        "    see https://example.org/layer",
        "",
        "3 files: 1 error, 1 warning, 1 note; flags held against vLLM 0.32.0 (pinned list)",
    ]


def test_nothing_found_is_one_line() -> None:
    assert list(report_lines([checked()], HeldAgainst("0.31.0", "installed in /opt/vllm"))) == [
        (
            "1 file: 0 errors, 0 warnings, 0 notes; flags held against vLLM 0.31.0 "
            "(installed in /opt/vllm)"
        )
    ]


def test_no_character_steers_a_terminal() -> None:
    hostile = Finding(Severity.NOTE, "x", Place("a.yaml", 1, 1), "\x1b[2J\u202e\n", "")

    (line, *_) = report_lines([checked(hostile)], AGAINST)

    assert line == "a.yaml:1:1: note[x]: \\x1b[2J\\u202e\\n"


def test_json_holds_everything() -> None:
    document = json.loads(report_json([checked(ERROR), checked(NOTE, file="b.yaml")], AGAINST))

    assert document == {
        "vllm": {"version": "0.32.0", "told_by": "pinned list"},
        "counts": {"error": 1, "warning": 0, "note": 1},
        "files": [
            {
                "file": "a.yaml",
                "findings": [
                    {
                        "severity": "error",
                        "code": "missing-value",
                        "file": "a.yaml",
                        "line": 4,
                        "column": 2,
                        "message": "`--port` needs a value",
                        "remedy": "write it",
                        "source": "",
                    }
                ],
            },
            {
                "file": "b.yaml",
                "findings": [
                    {
                        "severity": "note",
                        "code": "mtp-layer-reused",
                        "file": "b.yaml",
                        "line": 1,
                        "column": 1,
                        "message": "the layer runs twice",
                        "remedy": "",
                        "source": "https://example.org/layer",
                    }
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    ("findings", "strict", "status"),
    [
        pytest.param((), False, 0, id="nothing"),
        pytest.param((NOTE,), True, 0, id="notes never fail"),
        pytest.param((WARNING,), False, 0, id="warnings do not fail"),
        pytest.param((WARNING,), True, 1, id="warnings fail where strict"),
        pytest.param((WARNING, ERROR), False, 1, id="errors fail"),
        pytest.param(
            (ERROR, Finding(Severity.ERROR, UNREADABLE, Place("a.yaml"), "no file", "")),
            False,
            2,
            id="a file that cannot be read",
        ),
    ],
)
def test_status_follows_from_the_gravest(
    findings: tuple[Finding, ...], *, strict: bool, status: int
) -> None:
    assert exit_status([checked(), checked(*findings)], strict=strict) == status
