import pytest

from proxy.errors import Place
from proxy.recipes.check.flag_value import is_unfilled, refusal
from proxy.recipes.recipe import Flag
from proxy.recipes.vllm.facts import Arity, Kind, VllmFlag


def refused(kind: Kind, *values: str, name: str = "--x", choices: tuple[str, ...] = ()) -> str:
    known = VllmFlag(name, (), Arity.MANY, kind, choices)
    found = refusal(known, Flag(name, name, values, Place("r.yaml")))
    return found.code if found else ""


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        (Kind.INTEGER, "8", ""),
        (Kind.INTEGER, "-1", ""),
        (Kind.INTEGER, "8k", "not-a-number"),
        (Kind.INTEGER, "8.0", "not-a-number"),
        (Kind.SIZE, "8k", ""),
        (Kind.SIZE, "25.6k", ""),
        (Kind.SIZE, "auto", ""),
        (Kind.SIZE, "-1", ""),
        (Kind.SIZE, "1e3", "not-a-number"),
        (Kind.NUMBER, "0.5", ""),
        (Kind.NUMBER, "1e-3", ""),
        (Kind.NUMBER, "half", "not-a-number"),
        (Kind.JSON, '{"a": [1]}', ""),
        (Kind.JSON, "[1]", ""),
        (Kind.JSON, "{a: 1}", "not-json"),
        (Kind.JSON, "[" * 100_000, "not-json"),
        (Kind.JSON_OR_TEXT, "plain", ""),
        (Kind.JSON_OR_TEXT, "{a: 1}", "not-json"),
        (Kind.TEXT, "{a: 1}", ""),
        (Kind.INTEGER, "None", ""),
        (Kind.JSON, "", ""),
    ],
)
def test_value_must_be_of_its_kind(kind: Kind, value: str, code: str) -> None:
    assert refused(kind, value) == code


def test_choice_is_compared_as_vllm_compares_it() -> None:
    exact = VllmFlag("--x", (), Arity.ONE, Kind.TEXT, ("fp8", "auto_a"))
    folded = VllmFlag("--x", (), Arity.ONE, Kind.TEXT, ("fp8", "auto_a"), any_case=True)
    flag = Flag("--x", "--x", ("AUTO-A",), Place("r.yaml"))

    assert refusal(exact, flag) is not None
    assert refusal(folded, flag) is None


def test_few_choices_are_listed() -> None:
    known = VllmFlag("--x", (), Arity.ONE, Kind.TEXT, ("ray", "mp"))

    found = refusal(known, Flag("--x", "--x", ("zzz",), Place("r.yaml")))

    assert found is not None
    assert found.remedy == "ray, mp"


def test_flag_of_a_configuration_wants_an_object() -> None:
    assert refused(Kind.JSON, "[1]", name="--x-config") == "not-json"
    assert not refused(Kind.JSON, "{}", name="--x-config")


def test_doubled_braces_in_a_default_are_told() -> None:
    known = VllmFlag("--x", (), Arity.ONE, Kind.JSON)

    found = refusal(known, Flag("--x", "--x", ('{{"a": 1}}',), Place("r.yaml")))

    assert found is not None
    assert found.remedy == "write single braces: those of a default are not doubled"


def test_every_word_of_a_value_is_looked_at() -> None:
    assert refused(Kind.INTEGER, "1", "2", "x") == "not-a-number"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("--port", "1", ""),
        ("--port", "65535", ""),
        ("--port", "65536", "out-of-range"),
        ("--port", "None", "not-a-number"),
        ("--gpu-memory-utilization", "1", ""),
        ("--gpu-memory-utilization", "0", "out-of-range"),
        ("--gpu-memory-utilization", "nan", "out-of-range"),
        ("--max-num-seqs", "0", "out-of-range"),
    ],
)
def test_some_flags_have_a_range(name: str, value: str, code: str) -> None:
    kind = Kind.NUMBER if name.startswith("--gpu") else Kind.INTEGER

    assert refused(kind, value, name=name) == code


@pytest.mark.parametrize("value", ["{port}", "$", "`id`"])
def test_value_in_whose_place_another_should_stand_is_told_elsewhere(value: str) -> None:
    assert is_unfilled(value)
    assert not refused(Kind.INTEGER, value)
