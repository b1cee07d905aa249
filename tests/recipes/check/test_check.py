import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.data_files import recipes_folder
from proxy.recipes.check.check import MAX_FINDINGS, UNREADABLE, check_recipe
from proxy.recipes.check.finding import Severity, in_order
from proxy.recipes.check.report import CheckedFile, HeldAgainst, report_lines
from proxy.recipes.vllm.installed import find_vllm
from tests.fakes.vllm_package import python_with_vllm
from tests.recipes.checked import FACTS, FIRST, SECOND, codes, findings_of, found, shown
from tests.recipes.made import written

SERVE: Final = "command: vllm serve a/b\n"
PROMOTED: Final = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "",
            "1:1 error: the file is empty (write keys and values, such as `key: value`)",
            id="empty",
        ),
        pytest.param(
            "a: b: c",
            "1:5 error: not YAML: mapping values are not allowed in this context (write a value "
            "that contains `: ` in quotes, and check the indentation)",
            id="not YAML",
        ),
        pytest.param(
            "- a\n- b\n",
            "1:1 error: the file must be a mapping of keys and values (write `key: value` lines)",
            id="a list",
        ),
        pytest.param(
            "null",
            "1:1 error: the file must be a mapping of keys and values (write `key: value` lines)",
            id="nothing",
        ),
        pytest.param(
            "vllm serve a/b",
            "1:1 error: the file must be a mapping of keys and values (write `key: value` lines)",
            id="a text",
        ),
        pytest.param(
            "command: !!python/object/apply:os.system ['touch x']\n",
            "1:10 error: the tag `!!python/object/apply:os.system` is not allowed (remove the tag)",
            id="a tag that would run something",
        ),
        pytest.param(
            "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n",
            "2:8 error: the alias `*a` is not allowed (write the value out)",
            id="anchor bomb",
        ),
        pytest.param(
            "a: " + "x" * 10_000_000,
            "r.yaml error: the file is larger than 1 MiB (a configuration file is small; split it)",
            id="10 MB",
        ),
        pytest.param(
            "a: " + "[" * 100 + "]" * 100,
            "1:35 error: nested more than 32 deep (no configuration needs that; check the "
            "brackets)",
            id="nested deep",
        ),
        pytest.param(
            f"{FIRST}command: vllm serve a/b --port $(touch x)\n",
            "4:32 error: `$(` would run a program in a shell; here it stays text "
            "(write the value out)",
            id="substitution",
        ),
        pytest.param(
            f"{FIRST}command: vllm serve a/b --port `touch x`\n",
            "4:32 error: a backtick would run a program in a shell; here it stays text "
            "(write the value out)",
            id="backticks",
        ),
        pytest.param(
            f"{FIRST}command: vllm serve a/b; touch x\n",
            "4:24 error: `;` is for a shell, and no shell reads the command "
            "(leave one command: the engine and its flags)",
            id="semicolon",
        ),
        pytest.param(
            f"{FIRST}command: vllm serve a/b > x\n",
            "4:25 error: `>` would redirect in a shell; here nothing is redirected "
            "(remove it and what follows it)",
            id="redirection",
        ),
        pytest.param(
            f"{FIRST}defaults: {{a: \"x\\ntouch x\"}}\ncommand: vllm serve a/b --host '{{a}}'\n",
            "4:15 error: `{a}` is filled with a line break or another character that cannot be "
            "seen (write it on one line)",
            id="line break in a value",
        ),
        pytest.param(
            f'{FIRST}env: {{A: "x\\ntouch x"}}\n{SERVE}',
            "4:10 error: `env.A` holds a line break or another character that cannot be seen "
            "(write the value on one line)",
            id="line break in a variable",
        ),
        pytest.param(
            f"{FIRST}defaults: {{port: 65536}}\ncommand: vllm serve a/b --port {{port}}\n",
            "4:18 error: `--port` must be a port from 1 to 65535; it is `65536` (such as 8000)",
            id="port out of range",
        ),
        pytest.param(
            f"{FIRST}env: {{'A B': x}}\n{SERVE}",
            "4:7 error: `A B` is no name of an environment variable "
            "(use letters, digits and `_`, and no digit first)",
            id="no name of a variable",
        ),
        pytest.param(
            f"{FIRST}defaults: {{a: [1, 2]}}\n{SERVE}",
            "4:15 error: `defaults.a` is a list, which no command line can hold "
            "(write it as text, for instance JSON in single quotes)",
            id="list for a value",
        ),
        pytest.param(
            f"{SECOND}defaults: {{a: '{{b}}{{b}}', b: '{{a}}{{a}}'}}\n"
            "command: vllm serve a/b --host {a}\n",
            "3:32 error: `{a}` needs values that name each other: `a`, `b`, `a` "
            "(let no value name itself, and write long ones out)",
            id="values without end",
        ),
        pytest.param(
            f"{SECOND}model: a/b\n",
            "1:1 error: the key `command` is missing (add `command: vllm serve MODEL ...`)",
            id="no command",
        ),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, text: str, expected: str) -> None:
    errors = [each for each in findings_of(tmp_path, text) if each.severity is Severity.ERROR]

    assert expected in [shown(error, tmp_path) for error in errors]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.yaml"]


@pytest.mark.parametrize("name", ["absent.yaml", "."])
def test_file_that_cannot_be_read_is_a_finding(tmp_path: Path, name: str) -> None:
    (finding,) = check_recipe(tmp_path / name, (), FACTS, None)

    assert finding.code == UNREADABLE
    assert finding.severity is Severity.ERROR


def test_sound_recipe_has_no_finding_but_what_is_known_of_vllm(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve a/b --host 127.0.0.1\n"

    assert codes(tmp_path, text) == {"known-vulnerability"}


def test_promoted_recipe_has_no_error(tmp_path: Path) -> None:
    text = (recipes_folder() / PROMOTED).read_text()

    findings = findings_of(tmp_path, text)

    assert {each.code: str(each.severity) for each in findings if each.severity != "note"} == {
        "single-brace": "warning",
        "structured-output-defect": "warning",
    }


def test_findings_are_sorted_by_place(tmp_path: Path) -> None:
    text = f"{FIRST}env: {{1A: x}}\nzzz: 1\ncommand: vllm serve a/b --host ::1 --zzz\n"

    findings = findings_of(tmp_path, text)

    assert findings == in_order(findings)
    assert [each.place.line for each in findings] == [3, 4, 5, 6]


def test_what_a_check_names_is_not_told_again_by_the_reader(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve a/b --port 0 --speculative-config '[]' --host 'x\n"

    errors = [each for each in findings_of(tmp_path, text) if each.severity is Severity.ERROR]

    assert [each.code for each in errors] == ["out-of-range", "not-json", "open-quote"]


def test_what_only_the_reader_sees_is_an_error(tmp_path: Path) -> None:
    text = f"{SECOND}min_nodes: many\n{SERVE}"

    assert found(tmp_path, text, "malformed") == [
        "2:12 error: `min_nodes` must be a whole number above 0 (write the number without quotes)"
    ]


def test_flags_of_another_engine_are_not_checked(tmp_path: Path) -> None:
    text = f"{SECOND}model: a/b\ncommand: sglang serve --model-path a/b --zzz\n"

    assert found(tmp_path, text, "other-engine") == [
        (
            "3:10 note: the command starts `sglang serve`, so that its flags are not checked "
            "(Sluicegate knows the flags of `vllm serve`)"
        )
    ]
    assert codes(tmp_path, text) == {"other-engine"}


def test_overrides_are_checked_too(tmp_path: Path) -> None:
    text = f"{FIRST}defaults: {{port: 1}}\ncommand: vllm serve a/b --port {{port}}\n"

    assert found(tmp_path, text, "out-of-range", "port=0") == [
        "--set port error: `--port` must be a port from 1 to 65535; it is `0` (such as 8000)"
    ]
    assert found(tmp_path, text, "malformed", "port") == [
        "--set error: `port` is no `key=value` (write --set port=8001)"
    ]


def test_no_finding_shows_a_secret(tmp_path: Path) -> None:
    secret = "sk-0123456789"
    text = (
        f"{FIRST}env: {{HF_TOKEN: {secret}-env}}\ndefaults: {{api_key: {secret} x}}\n"
        f"command: vllm serve a/b --api-key {{api_key}} --port {secret} --zzz {secret}\n"
    )

    findings = findings_of(tmp_path, text)

    assert "secret-in-file" in {each.code for each in findings}
    assert f"{secret} x" not in str(findings)
    assert f"{secret}-env" not in str(findings)


def test_findings_of_one_file_are_bounded(tmp_path: Path) -> None:
    flags = " ".join(f"--zzz-{number}" for number in range(2 * MAX_FINDINGS))

    findings = findings_of(tmp_path, f"{FIRST}command: vllm serve a/b {flags}\n")

    assert len(findings) == MAX_FINDINGS


@pytest.mark.parametrize("unit", ["--zzz 1 ", "'{port}' ", "; x ", "$(x) ", "word ", "--port 0 "])
def test_work_grows_no_faster_than_a_command(tmp_path: Path, unit: str) -> None:
    def calls(units: int) -> int:
        path = written(tmp_path, f"{FIRST}command: vllm serve a/b {unit * units}\n")
        return calls_of(lambda: check_recipe(path, (), FACTS, None))

    calls(1)

    assert calls(400) < 2.5 * calls(200)


@pytest.mark.parametrize("unit", ["--zzz{} ", "--max-modle-len{} 1 ", "--max-num 1 "])
def test_flag_that_is_not_known_is_not_compared_with_all_that_are(
    tmp_path: Path, unit: str
) -> None:
    def calls(units: int) -> int:
        flags = "".join(unit.format(number) for number in range(units))
        path = written(tmp_path, f"{FIRST}command: vllm serve a/b {flags}\n")
        return calls_of(lambda: check_recipe(path, (), FACTS, None))

    calls(1)
    more = calls(2 * MAX_FINDINGS + 200) - calls(2 * MAX_FINDINGS)

    assert more / 200 < 2 * len(FACTS.flags)


def calls_of(work: Callable[[], object]) -> int:
    """How often Python calls something meanwhile: a count that no clock disturbs."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_parser_of_an_installed_vllm_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path, f"{SECOND}command: vllm serve a/b --eager --port 1 --zzz\n")
    installed = find_vllm(python_with_vllm(tmp_path / "environment"), os.environ)
    assert installed is not None

    findings = check_recipe(path, (), installed.facts(), installed)

    assert [each.code for each in findings if each.severity is Severity.ERROR] == [
        "refused-by-vllm",
        "unknown-flag",
    ]


# These three end lines for YAML, and for hardly anything else.
CHARACTERS: Final = st.characters()
WORDS: Final = st.sampled_from(
    [
        *("vllm", "serve", "a/b", "--port", "--max-model-len", "--api-key", "--zzz", "-tp", "-O3"),
        *("--speculative-config", "'", '"', "{", "}", "{{", "}}", "{port}", "{zzz}", "\\", "\\ \n"),
        *("\n", "$(", "`", "${A}", ";", "|", ">", "#", "=", " ", "0", "-1", '{"method":"mtp"}'),
    ]
)
TEXTS: Final = st.one_of(
    st.lists(WORDS, max_size=60).map(" ".join),
    st.lists(WORDS).map("".join),
    st.text(CHARACTERS, max_size=300),
)
VALUES: Final = st.one_of(
    TEXTS, st.integers(), st.booleans(), st.floats(), st.none(), st.lists(st.integers(), max_size=2)
)
MAPPINGS: Final = st.dictionaries(
    st.one_of(
        st.sampled_from(["port", "A", "VLLM_A", "HF_TOKEN", "1", ""]),
        st.text(CHARACTERS, max_size=8),
    ),
    VALUES,
    max_size=5,
)
RECIPES: Final = st.fixed_dictionaries(
    {"command": TEXTS},
    optional={
        "recipe_version": st.sampled_from([1, 2, "1", "2", 3, 0.1]),
        "model": VALUES,
        "container": VALUES,
        "runtime_version": VALUES,
        "defaults": st.one_of(MAPPINGS, VALUES),
        "env": st.one_of(MAPPINGS, VALUES),
        "min_nodes": VALUES,
        "solo_only": VALUES,
    },
)


@settings(max_examples=300, deadline=None)
@given(recipe=RECIPES)
def test_no_recipe_raises_or_is_left_without_places(recipe: dict[str, object]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.yaml"
        path.write_text(yaml.safe_dump(recipe, allow_unicode=True), encoding="utf-8")

        findings = check_recipe(path, (), FACTS, None)

        assert all(each.place.file == str(path) for each in findings)
        assert all(each.message and each.code for each in findings)
        assert len(findings) <= 2 * MAX_FINDINGS
        lines = report_lines([CheckedFile(path, findings)], HeldAgainst("0.32.0", "pinned list"))
        assert all(line.isprintable() for line in lines)
        assert [each.name for each in Path(folder).iterdir()] == ["r.yaml"]


@settings(max_examples=100, deadline=None)
@given(text=st.text(CHARACTERS, max_size=2000))
def test_no_text_raises(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))

        findings = check_recipe(path, (), FACTS, None)

        assert {type(each.severity) for each in findings} == {Severity}
