from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, codes, findings_of, found

OF_TEXT = {
    "missing-continuation",
    "blank-after-backslash",
    "open-quote",
    "comment-in-command",
    "substitution",
    "redirection",
    "shell-operator",
    "shell-variable",
    "other-command",
    "control-character",
    "unquoted-value",
    "before-engine",
    "shell-pattern",
    "shell-quote",
}


def block(*lines: str) -> str:
    return FIRST + "command: |\n" + "".join(f"  {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        pytest.param(
            block("vllm serve a/b", "  --port 1 \\", "  --seed 2"),
            "missing-continuation",
            "5:17 error: the line ends without a backslash, and the next one begins with a flag: "
            "a shell would run that as another command (end the line with ` \\`)",
            id="missing continuation",
        ),
        pytest.param(
            block("vllm serve a/b \\ ", "  --port 1"),
            "blank-after-backslash",
            "5:19 error: a blank behind the backslash: for a shell the command ends here "
            "(remove the blank)",
            id="blank after a backslash",
        ),
        pytest.param(
            block("vllm serve a/b --host 'x"),
            "open-quote",
            "5:25 error: the quote ' is not closed (close it)",
            id="open quote",
        ),
        pytest.param(
            block("vllm serve a/b \\", "  # the port", "  --port 1"),
            "comment-in-command",
            "6:5 warning: a comment inside the command: for a shell the command ends here "
            "(put comments above `command`)",
            id="comment",
        ),
        pytest.param(
            block("vllm serve a/b --port $(cat port)"),
            "substitution",
            "5:25 error: `$(` would run a program in a shell; here it stays text "
            "(write the value out)",
            id="substitution",
        ),
        pytest.param(
            block("vllm serve a/b --port `cat port`"),
            "substitution",
            "5:25 error: a backtick would run a program in a shell; here it stays text "
            "(write the value out)",
            id="backticks",
        ),
        pytest.param(
            block("vllm serve a/b > log"),
            "redirection",
            "5:18 error: `>` would redirect in a shell; here nothing is redirected "
            "(remove it and what follows it)",
            id="redirection",
        ),
        pytest.param(
            block("vllm serve a/b &"),
            "shell-operator",
            "5:18 error: `&` is for a shell, and no shell reads the command "
            "(leave one command: the engine and its flags)",
            id="background",
        ),
        pytest.param(
            block("vllm serve a/b ; rm -rf x"),
            "other-command",
            "5:20 error: `rm` is not run: only the command that starts the engine counts "
            "(remove it)",
            id="second command",
        ),
        pytest.param(
            block("export A=1; vllm serve a/b"),
            "other-command",
            "5:3 warning: `export` is not run: only the command that starts the engine counts "
            "(set variables in `env`)",
            id="setting before the engine",
        ),
        pytest.param(
            block("vllm serve a/b --host ${NODE_IP}"),
            "shell-variable",
            "5:25 warning: `${NODE_IP}` stays as it stands; a shell would put a variable in its "
            "place (write the value out, or make it a default: `{name}`)",
            id="variable",
        ),
        pytest.param(
            FIRST + 'defaults: {a: "x\\ny"}\ncommand: vllm serve a/b --host {a}\n',
            "control-character",
            "4:15 error: `{a}` is filled with a line break or another character that cannot be "
            "seen (write it on one line)",
            id="line break in a default",
        ),
        pytest.param(
            FIRST + 'command: "vllm serve a/b --host x\\0"\n',
            "control-character",
            "4:10 error: an argument holds a line break or another character that cannot be seen "
            "(write it on one line)",
            id="NUL in the command",
        ),
        pytest.param(
            FIRST + "defaults: {a: x y}\ncommand: vllm serve a/b --served-model-name {a}\n",
            "unquoted-value",
            "5:45 warning: `{a}` is filled with `x y` without quotes: a shell would split or "
            "change it (put it in single quotes; several words must be written out in the command)",
            id="value with a blank",
        ),
        pytest.param(
            FIRST + "defaults: {a: ''}\ncommand: vllm serve a/b --served-model-name {a}\n",
            "unquoted-value",
            "5:45 warning: `{a}` is filled with nothing, without quotes: a shell would drop the "
            "word; here it is an empty argument (give it a value, remove it, or put it in single "
            "quotes if empty is meant)",
            id="empty value",
        ),
        pytest.param(
            block("A_KEY=secret vllm serve a/b"),
            "before-engine",
            "5:3 warning: the assignment of `A_KEY` before the engine is not made: only a shell "
            "would do that, and `recipe up` refuses it (set `A_KEY` in `env`)",
            id="assignment",
        ),
        pytest.param(
            block("exec nice -n 5 vllm serve a/b"),
            "before-engine",
            "5:8 warning: `nice` before the engine is not run: only a shell would do that, and "
            "`recipe up` refuses it (begin the command with the engine)",
            id="program that starts the engine",
        ),
        pytest.param(
            block("vllm serve a/b --host $'x'"),
            "shell-quote",
            "5:25 error: `$'` opens a quote of bash; here the `$` stays text (remove the `$`)",
            id="quote of bash",
        ),
        pytest.param(
            block("vllm serve ~/b"),
            "shell-pattern",
            "5:14 warning: `~/b` stays as it stands; a shell may put names of files or other words "
            "in its place (write the value out, in single quotes)",
            id="home folder",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, text: str, code: str, expected: str
) -> None:
    assert found(tmp_path, text, code) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block("vllm serve a/b \\", "  --port 1"), id="continued lines"),
        pytest.param(block("vllm serve a/b --host 'a;b|c>d $(e) `f` {a}'"), id="all in quotes"),
        pytest.param(block("exec vllm serve a/b"), id="exec"),
        pytest.param(block("vllm serve a/b --host '~*?[x]{a,b}'"), id="patterns in quotes"),
        pytest.param(
            FIRST + "defaults: {a: ''}\ncommand: vllm serve a/b --host={a} --x '{a}'\n",
            id="empty value that leaves a word",
        ),
        pytest.param(
            FIRST + "defaults: {a: x y}\ncommand: vllm serve a/b --host '{a}'\n", id="quoted value"
        ),
    ],
)
def test_plain_command_is_no_finding(tmp_path: Path, text: str) -> None:
    assert not codes(tmp_path, text) & OF_TEXT


def test_every_lost_continuation_is_named(tmp_path: Path) -> None:
    text = block("vllm serve a/b ", *(f"  --port {number} " for number in range(1, 17)))

    assert len(found(tmp_path, text, "missing-continuation")) == 16


def test_unquoted_secret_is_not_shown(tmp_path: Path) -> None:
    text = FIRST + "defaults: {api_key: a b}\ncommand: vllm serve a/b --api-key {api_key}\n"

    findings = [each for each in findings_of(tmp_path, text) if each.code == "unquoted-value"]

    assert [each.message for each in findings] == [
        "`{api_key}` is filled with a value without quotes: a shell would split or change it"
    ]


@pytest.mark.parametrize("word", ["a*", "b?", "[ab]", "{a,b}x", "{1..3}", "~"])
def test_word_that_a_shell_would_look_up_is_named(tmp_path: Path, word: str) -> None:
    text = 'recipe_version: "2"\ncommand: vllm serve a/b --host ' + word + "\n"

    assert "shell-pattern" in codes(tmp_path, text)


def test_each_assignment_before_the_engine_is_named_without_its_value(tmp_path: Path) -> None:
    text = block("env A=1 HF_TOKEN=hf_0123456789 vllm serve a/b")

    findings = [each for each in findings_of(tmp_path, text) if each.code == "before-engine"]

    assert [each.place.column for each in findings] == [3, 7, 11]
    assert "hf_0123456789" not in str(findings)
