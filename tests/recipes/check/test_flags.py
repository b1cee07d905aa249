from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, codes, findings_of, found

OWN_BUILD = FIRST.replace("vllm-node", "owner/fork")


def command(flags: str, head: str = FIRST) -> str:
    return f"{head}command: vllm serve a/b {flags}\n"


@pytest.mark.parametrize(
    ("flags", "code", "expected"),
    [
        pytest.param(
            "--max-modle-len 5",
            "unknown-flag",
            "4:25 error: vLLM 0.32.0 does not know `--max-modle-len` "
            "(did you mean `--max-model-len`?)",
            id="misspelt flag",
        ),
        pytest.param(
            "--zzz 5",
            "unknown-flag",
            "4:25 error: vLLM 0.32.0 does not know `--zzz` (remove it)",
            id="unknown flag",
        ),
        pytest.param(
            "--max-model 5",
            "shortened-flag",
            "4:25 warning: `--max-model` is short for `--max-model-len` (write the whole name: "
            "another version may have a second flag that begins so)",
            id="shortened flag",
        ),
        pytest.param(
            "--port",
            "missing-value",
            "4:25 error: `--port` needs a value (write it behind the flag)",
            id="flag without its value",
        ),
        pytest.param(
            "--enable-prefix-caching=true",
            "unexpected-value",
            "4:25 error: `--enable-prefix-caching` takes no value (write "
            "`--enable-prefix-caching` or `--no-enable-prefix-caching`)",
            id="switch with a value",
        ),
        pytest.param(
            "--kv-cache-dtype fp9",
            "not-a-choice",
            "4:42 error: `--kv-cache-dtype` must be one of vLLM's choices; it is `fp9` "
            "(see its --help)",
            id="no choice",
        ),
        pytest.param(
            "--kv-cache-dtype fp8_e4m",
            "not-a-choice",
            "4:42 error: `--kv-cache-dtype` must be one of vLLM's choices; it is `fp8_e4m` "
            "(did you mean `fp8_e4m3`?)",
            id="nearly a choice",
        ),
        pytest.param(
            "--max-model-len 1e5",
            "not-a-number",
            "4:41 error: `--max-model-len` must be a number of tokens or bytes, such as 262144, "
            "256K or 32k; it is `1e5` (write digits, in decimal)",
            id="no size",
        ),
        pytest.param(
            "--seed x",
            "not-a-number",
            "4:32 error: `--seed` must be a whole number; it is `x` (write digits, in decimal)",
            id="no whole number",
        ),
        pytest.param(
            "--port 70000",
            "out-of-range",
            "4:32 error: `--port` must be a port from 1 to 65535; it is `70000` (such as 8000)",
            id="port too large",
        ),
        pytest.param(
            "--port=0",
            "out-of-range",
            "4:32 error: `--port` must be a port from 1 to 65535; it is `0` (such as 8000)",
            id="port 0",
        ),
        pytest.param(
            "--gpu-memory-utilization 1.5",
            "out-of-range",
            "4:50 error: `--gpu-memory-utilization` must be a share above 0, at most 1; it is "
            "`1.5` (write 0.9 for 90 %)",
            id="more memory than there is",
        ),
        pytest.param(
            "--max-num-seqs 0",
            "out-of-range",
            "4:40 error: `--max-num-seqs` must be a whole number above 0; it is `0` "
            "(write digits only)",
            id="no sequences",
        ),
        pytest.param(
            "--tool-call-parser qwen3_code",
            "unknown-name",
            "4:44 error: vLLM 0.32.0 has no tool parser `qwen3_code` (did you mean `qwen3_coder`?)",
            id="unknown tool parser",
        ),
        pytest.param(
            "--reasoning-parser qwen4",
            "unknown-name",
            "4:44 error: vLLM 0.32.0 has no reasoning parser `qwen4` (did you mean `qwen3`?)",
            id="unknown reasoning parser",
        ),
        pytest.param(
            "--attention-backend flashinver",
            "unknown-name",
            "4:45 error: vLLM 0.32.0 has no attention backend `flashinver` "
            "(did you mean `FLASHINFER`?)",
            id="unknown attention backend",
        ),
        pytest.param(
            "--quantization zzz",
            "unknown-name",
            "4:40 error: vLLM 0.32.0 has no quantization `zzz` (see `vllm serve --help`)",
            id="unknown quantization",
        ),
        pytest.param(
            "--port 1 --port 2",
            "repeated-flag",
            "4:34 warning: `--port` stands twice, first in line 4; the last counts "
            "(remove one of the two)",
            id="flag twice",
        ),
        pytest.param(
            "--enable-prefix-caching --no-enable-prefix-caching",
            "repeated-flag",
            "4:49 warning: `--enable-prefix-caching` stands twice, first in line 4; the last "
            "counts (remove one of the two)",
            id="on and off",
        ),
        pytest.param(
            "--speculative-config '{{}}' --speculative-config.method mtp",
            "dotted-and-whole",
            "4:53 error: `--speculative-config` is given as a whole too; vLLM takes only what has "
            "dots (write everything into the JSON of `--speculative-config`, or everything with "
            "dots)",
            id="whole and with dots",
        ),
        pytest.param(
            "--enable-prefix-caching true",
            "stray-word",
            "4:49 error: `true` belongs to no flag, and vLLM takes one model "
            "(remove it, or put it in quotes)",
            id="word of no flag",
        ),
        pytest.param(
            "--api-key sk-12345678",
            "secret-in-file",
            "4:35 warning: `--api-key` holds a secret in a file that others may read "
            "(set it in the environment of the engine instead, or hand it over with `--set`)",
            id="secret",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, flags: str, code: str, expected: str
) -> None:
    assert found(tmp_path, command(flags), code) == [expected]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(
            '--speculative-config \'{{"method":"mtp" "k":1}}\'',
            "4:64 error: `--speculative-config` must be JSON (expecting ',' delimiter); it is "
            '`{"method":"mtp" "k":1}` (mend the JSON, and write it in single quotes)',
            id="comma missing, in a command with doubled braces",
        ),
        pytest.param(
            '--speculative-config \'{"method":"mtp" }, }\'',
            "4:64 error: `--speculative-config` must be JSON (extra data); it is "
            '`{"method":"mtp" }, }` (mend the JSON, and write it in single quotes)',
            id="place inside the JSON",
        ),
        pytest.param(
            '--speculative-config {"method":"mtp"}',
            "4:46 error: `--speculative-config` must be JSON (expecting property name enclosed in "
            "double quotes); it is `{method:mtp}` (write it in single quotes, and its names and "
            "texts in double quotes)",
            id="no quotes round it",
        ),
        pytest.param(
            "--speculative-config '[1]'",
            "4:47 error: `--speculative-config` must be a JSON object; it is `[1]` (write {...})",
            id="a list",
        ),
    ],
)
def test_json_that_does_not_parse_is_named_with_its_place(
    tmp_path: Path, flags: str, expected: str
) -> None:
    assert found(tmp_path, command(flags), "not-json") == [expected]


def test_json_in_a_default_is_named_where_it_breaks(tmp_path: Path) -> None:
    text = (
        'recipe_version: "2"\ndefaults:\n  s: \'{"method":"mtp",}\'\n'
        "command: vllm serve a/b --speculative-config '{s}'\n"
    )

    (line,) = found(tmp_path, text, "not-json")

    assert line.startswith("3:23 error: `--speculative-config` must be JSON (")


def test_value_of_a_default_and_of_an_override_has_its_own_place(tmp_path: Path) -> None:
    text = f"{FIRST}defaults: {{port: 70000}}\ncommand: vllm serve a/b --port {{port}}\n"

    (of_default,) = found(tmp_path, text, "out-of-range")
    (of_override,) = found(tmp_path, text, "out-of-range", "port=70001")

    assert of_default.startswith("4:18 error: `--port` must be")
    assert of_override.startswith("--set port error: `--port` must be")


def test_build_of_its_own_may_know_more_but_a_typo_stays_an_error(tmp_path: Path) -> None:
    text = command("--zzz 1 --max-modle-len 5 --kv-cache-dtype fp9", OWN_BUILD)

    assert found(tmp_path, text, "unknown-flag") == [
        (
            "4:25 warning: vLLM 0.32.0 does not know `--zzz` "
            "(remove it; the recipe names a build of its own, which may know it)"
        ),
        "4:33 error: vLLM 0.32.0 does not know `--max-modle-len` (did you mean `--max-model-len`?)",
    ]
    assert found(tmp_path, text, "not-a-choice")[0].startswith("4:68 warning:")


def test_command_without_a_model_is_an_error(tmp_path: Path) -> None:
    text = f"{FIRST}model: a/b\ncommand: vllm serve --port 1\n"

    assert found(tmp_path, text, "no-model") == [
        (
            "5:21 error: the command names no model: vLLM would load a default of its own "
            "(write the model behind `vllm serve`)"
        )
    ]


def test_model_behind_flags_is_an_error_with_a_served_name(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve --port 1 a/b --served-model-name x\n"

    assert found(tmp_path, text, "model-not-first") == [
        (
            "4:21 error: with `--served-model-name`, vLLM wants the model as the first word "
            "(write the model directly behind `vllm serve`)"
        )
    ]


def test_parser_of_a_plugin_is_not_looked_up(tmp_path: Path) -> None:
    text = command("--tool-call-parser mine --tool-parser-plugin mine.py")

    assert "unknown-name" not in codes(tmp_path, text)


def test_override_of_a_flag_is_no_repetition(tmp_path: Path) -> None:
    findings = findings_of(tmp_path, command("--port 1"), "port=2")

    assert "repeated-flag" not in {finding.code for finding in findings}


@pytest.mark.parametrize(
    "flags",
    [
        "--max_model_len 256K --kv_cache_dtype=fp8",
        "-tp 2 -O3 -sc.method mtp -sc.num_speculative_tokens 1",
        "--max-model-len auto --max-num-batched-tokens 16k --seed -1",
        "--no-enable-prefix-caching --middleware a.b --middleware c.d",
        "--attention-backend flashinfer --quantization None --hf-overrides x",
        "--served-model-name a b c --api-key $KEY --trust-remote-code",
    ],
)
def test_flags_as_vllm_takes_them_are_no_error(tmp_path: Path, flags: str) -> None:
    findings = findings_of(tmp_path, command(flags))

    assert [str(each) for each in findings if each.severity == "error"] == []


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("vllm serve --served-model-name x --model a/b", id="vLLM moves it"),
        pytest.param("vllm serve --served-model-name x --model=a/b", id="with equals"),
        pytest.param(
            "python3 -m vllm.entrypoints.openai.api_server --served-model-name x --model a/b",
            id="module of Python",
        ),
    ],
)
def test_model_behind_its_own_flag_is_not_missed(tmp_path: Path, command: str) -> None:
    assert not {"model-not-first", "no-model"} & codes(tmp_path, f"{FIRST}command: {command}\n")


def test_module_that_takes_no_model_word_is_told(tmp_path: Path) -> None:
    text = f"{FIRST}model: a/b\ncommand: python3 -m vllm.entrypoints.openai.api_server a/b\n"

    assert found(tmp_path, text, "no-model") == [
        (
            "5:56 error: the command names no model: vLLM would load a default of its own (write "
            "`--model MODEL`; this module makes nothing of a word without a flag)"
        )
    ]


@pytest.mark.parametrize(
    "before",
    [
        "FOO=1 BAR=2 vllm serve a/b",
        "env FOO=1 vllm serve a/b",
        "numactl -N 0 vllm serve a/b",
        "python3 -m vllm.entrypoints.cli.main serve a/b",
        "python3 -m vllm.entrypoints.openai.api_server --model a/b",
    ],
)
def test_flags_of_vllm_are_checked_however_it_is_started(tmp_path: Path, before: str) -> None:
    told = codes(tmp_path, f"{FIRST}command: {before} --port 70000 --max-modle-len 5\n")

    assert {"out-of-range", "unknown-flag"} <= told
    assert "other-engine" not in told


def test_secret_that_is_handed_over_is_in_no_file(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve a/b\n"

    assert "secret-in-file" not in codes(tmp_path, text, "api_key=sk-0123456789")
