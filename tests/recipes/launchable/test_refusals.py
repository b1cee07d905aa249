from pathlib import Path
from typing import Final

import pytest

from proxy.recipes.launchable.refusals import Allowance, Reason, refusals
from tests.recipes.made import reading_of

PLAIN: Final = "command: vllm serve m\nmodel: m\n"


def told(folder: Path, text: str, allowance: Allowance | None = None) -> list[tuple[str, Reason]]:
    """Place and reason of each refusal."""
    reading = reading_of(folder, text)
    assert reading.recipe is not None
    found = refusals(reading.recipe, reading.document.places, allowance or Allowance())
    return [
        (str(refusal.problem.place).replace(f"{folder}/r.yaml", ""), refusal.reason)
        for refusal in found
    ]


def test_plain_recipe_is_not_refused(tmp_path: Path) -> None:
    assert told(tmp_path, PLAIN) == []


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("command: sglang serve m\nmodel: m\n", ":1:10", Reason.OTHER_ENGINE),
        ("command: vllm serve --port 1\nmodel: m\n", ":1:10", Reason.NO_MODEL),
        (f"{PLAIN}min_nodes: 2\n", ":3:12", Reason.SEVERAL_MACHINES),
        (f"{PLAIN}cluster_only: true\n", ":3:15", Reason.SEVERAL_MACHINES),
        ("command: vllm serve m --headless\nmodel: m\n", ":1:23", Reason.SILENT_FLAG),
        ("command: vllm serve m --uds /x\nmodel: m\n", ":1:23", Reason.SILENT_FLAG),
        ("command: vllm serve m --config x\nmodel: m\n", ":1:23", Reason.SILENT_FLAG),
        (f"{PLAIN}mods: [a]\n", ":3:1", Reason.LEFT_OUT),
        (f"{PLAIN}pre_exec: [a]\n", ":3:1", Reason.LEFT_OUT),
        ("command: vllm serve m '\u202e'\nmodel: m\n", ":1:23", Reason.UNSEEN),
        (f'{PLAIN}env: {{A: "1\\n2"}}\n', ":3:7", Reason.UNSEEN),
        (f"{PLAIN}env: {{A B: 1}}\n", ":3:7", Reason.VARIABLE_NAME),
        (f"{PLAIN}env: {{LD_PRELOAD: x}}\n", ":3:7", Reason.STEERING),
        (f"{PLAIN}env: {{HOME: /x}}\n", ":3:7", Reason.STEERING),
    ],
)
def test_each_reason_has_the_place_of_what_it_is_about(
    tmp_path: Path, text: str, place: str, reason: Reason
) -> None:
    assert told(tmp_path, text) == [(place, reason)]


def test_user_may_take_mods_and_variables_upon_himself(tmp_path: Path) -> None:
    text = f"{PLAIN}mods: [a]\nenv: {{HOME: /x}}\n"
    allowance = Allowance(without_mods=True, environment=frozenset({"HOME"}))

    assert told(tmp_path, text, allowance) == []


def test_text_of_a_recipe_is_cut_where_it_is_long(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, f"{PLAIN}mods: [{'a' * 5000}]\nenv: {{'{'b ' * 90}': 1}}\n")
    assert reading.recipe is not None

    found = list(refusals(reading.recipe, reading.document.places, Allowance()))

    assert len(found) == 2
    assert all(len(refusal.problem.message) < 300 for refusal in found)
