import json
from pathlib import Path

import pytest

from proxy.bench.contract_cases import CaseError, CaseKind, ContractCase, read_cases
from proxy.bench.contract_reading import AnswerReader
from proxy.contract.policy_file import load_policy
from proxy.data_files import policies_folder
from proxy.gates.registry import gate_kinds
from proxy.gates.text_units import Unit
from proxy.wire.reply import Choice

SHIPPED = read_cases(policies_folder() / "fixtures" / "contract-de")
EACH = pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.name)
ONE = """\
format: 1
kind: teaser
field: teaser
unit: words
system: "{min} bis {max} Wörter"
order: Schreibe.
cases:
  - {name: a, limits: {min: 2, max: 5}, source: Quelle, example: Ein Satz.}
"""


def complaint(folder: Path, text: str) -> str:
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(CaseError) as caught:
        read_cases(folder)
    (problem,) = caught.value.problems
    assert problem.remedy
    return str(problem)


def test_shipped_set_has_eight_cases_of_each_kind() -> None:
    kinds = [case.kind for case in SHIPPED]

    assert {kind: kinds.count(kind) for kind in CaseKind} == {
        CaseKind.SHORT_TEXT: 8,
        CaseKind.TEASER: 8,
    }
    assert len({case.name for case in SHIPPED}) == 16


def test_each_kind_of_the_shipped_set_has_thin_sources() -> None:
    thin = [case.kind for case in SHIPPED if case.is_thin]

    assert sorted(thin) == ["short_text", "short_text", "teaser", "teaser"]


@EACH
def test_example_of_a_case_is_usable_and_borne_by_its_source(case: ContractCase) -> None:
    text, note = (None, case.example) if case.is_thin else (case.example, None)

    reading = AnswerReader().read(case, Choice(0, case.answer(text, note)))

    assert reading.faults == ()
    assert reading.typed == ()
    assert reading.abstains is case.is_thin


@EACH
def test_limits_of_a_case_are_those_that_its_policy_holds(case: ContractCase) -> None:
    policy = load_policy(policies_folder() / "editorial-de.yaml", gate_kinds(), ("main",))
    (spec,) = [rule.spec for rule in policy.rules if rule.gate.name == "length"]
    assert spec

    targets = json.loads(spec.options)["targets"]

    held = {target["of"]: (target["unit"], target["min"], target["max"]) for target in targets}
    assert held[f"$.{case.field}"] == (case.unit, case.least, case.most)


@EACH
def test_what_must_be_held_stands_in_the_source(case: ContractCase) -> None:
    for ways in case.must_hold:
        assert any(way in case.source for way in ways), ways


def test_request_brings_its_source_last_and_asks_for_strict_json(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(ONE)
    (case,) = read_cases(tmp_path)

    request = json.loads(case.body("tiny", 7))

    assert (request["model"], request["seed"]) == ("tiny", 7)
    assert request["messages"] == [
        {"role": "system", "content": "2 bis 5 Wörter"},
        {"role": "user", "content": "Schreibe.\n<quelle>Quelle</quelle>"},
    ]
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["teaser", "hinweis"]


def test_case_is_read_with_all_that_stands_above_it(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(ONE)

    (case,) = read_cases(tmp_path)

    assert (case.kind, case.unit, case.least, case.most) == (CaseKind.TEASER, Unit.WORDS, 2, 5)
    assert case.asked == "2 bis 5 Wörter\nSchreibe."
    assert not case.is_thin


def test_files_take_turns_so_that_a_part_of_the_cases_has_all_kinds(tmp_path: Path) -> None:
    two = ONE.replace("name: a", "name: c") + ONE.splitlines()[-1].replace("name: a", "name: d")
    (tmp_path / "1.yaml").write_text(ONE)
    (tmp_path / "2.yaml").write_text(two)

    assert [case.name for case in read_cases(tmp_path)] == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ONE.replace("max: 5", "max: 1"), "is 1, below `min`"),
        (ONE.replace("unit: words", "unit: pages"), "cannot be `pages`"),
        (ONE + "ordre: Schreibe.\n", "unknown key `ordre` (did you mean `order`?)"),
        (ONE.partition("cases:")[0], "the key `cases` is missing"),
        ("format: [\n", "not YAML"),
    ],
    ids=["limits", "unit", "key", "no cases", "no YAML"],
)
def test_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    assert told in complaint(tmp_path, text)


def test_folder_without_cases_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="there are no cases"):
        read_cases(tmp_path)
