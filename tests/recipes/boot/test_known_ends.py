"""Each known end with a line that tells it; tests/recorded/README.md says where they come from."""

import json
from pathlib import Path
from typing import Final

import pytest

from proxy.recipes.boot.boot_line import plain
from proxy.recipes.boot.early_death import explain
from proxy.recipes.boot.known_ends import KNOWN_ENDS

RECORDED: Final = Path(__file__).parents[2] / "recorded" / "vllm_early_deaths.jsonl"
DEATHS: Final = [json.loads(line) for line in RECORDED.read_text().splitlines()]
FILES: Final = (
    "(APIServer pid=1) WARNING 11-30 16:12:24 [a.py:255] This can cause fd limit errors like "
    "`OSError: [Errno 24] Too many open files`."
)
PORT: Final = "WARNING 11-30 16:12:24 [a.py:7] Address already in use. Retrying with a new port."
TOO_LONG: Final = (
    "(APIServer pid=1) WARNING 11-30 16:53:21 [a.py:9] User-specified max_model_len (65536) is "
    "greater than the derived max_model_len (max_position_embeddings=8192.0 or model_max_length"
)
REMOTE_CODE: Final = (
    "INFO 11-30 16:12:52 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: "
    "model='m', trust_remote_code=True, dtype=torch.bfloat16"
)


@pytest.mark.parametrize(
    ("line", "what"),
    [(death["line"], death["what"]) for death in DEATHS],
    ids=[death["name"] for death in DEATHS],
)
def test_known_end_is_explained_with_a_remedy(line: str, what: str) -> None:
    death = explain(["it had begun", line, "RuntimeError: See root cause above."], 1)

    assert what in death.what
    assert death.remedy
    assert death.line


def test_every_known_end_has_its_line() -> None:
    lines = [plain(death["line"]).lstrip() for death in DEATHS]

    unseen = [known for known in KNOWN_ENDS if not any(map(known.pattern.match, lines))]

    assert unseen == []


@pytest.mark.parametrize(
    "line",
    [FILES, PORT, TOO_LONG, REMOTE_CODE],
    ids=["files", "port", "too long", "remote code"],
)
def test_lines_of_a_sound_start_explain_nothing(line: str) -> None:
    assert "did not say why" in explain([line], 1).what
