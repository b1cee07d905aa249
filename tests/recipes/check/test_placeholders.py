from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, SECOND, codes, found

MTP = '{"method":"mtp"}'
DOUBLED = "{{" + MTP[1:-1] + "}}"


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        pytest.param(
            FIRST + "defaults: {port: 1}\ncommand: vllm serve a/b --port {prot}\n",
            "unknown-placeholder",
            "5:32 error: the placeholder `{prot}` has no value (did you mean `{port}`?)",
            id="misspelt placeholder",
        ),
        pytest.param(
            SECOND + "command: vllm serve a/b --port {zzz}\n",
            "unknown-placeholder",
            "2:32 error: the placeholder `{zzz}` has no value (add `zzz` to `defaults`)",
            id="placeholder without a default",
        ),
        pytest.param(
            FIRST + "model: a/b\ncommand: vllm serve {model}\n",
            "unknown-placeholder",
            "5:21 warning: `{model}` has no default, and run-recipe stops here with a KeyError "
            "(write the model out, or add `model` to `defaults`)",
            id="model in version 1",
        ),
        pytest.param(
            FIRST + f"command: vllm serve a/b --speculative-config '{MTP}'\n",
            "single-brace",
            "4:47 warning: a single brace in version 1: run-recipe stops here with an error "
            "(sparkrun and Sluicegate read it) (double every brace that is no placeholder: `{{` "
            "and `}}`)",
            id="single brace in version 1",
        ),
        pytest.param(
            SECOND + f"command: vllm serve a/b --speculative-config '{DOUBLED}'\n",
            "doubled-braces",
            "2:47 warning: doubled braces in version 2: older versions of sparkrun leave them "
            "doubled (put the JSON into a default and write '{name}' here)",
            id="doubled braces in version 2",
        ),
        pytest.param(
            FIRST + f"command: vllm serve a/b --a '{DOUBLED}' --b '{MTP}'\n",
            "mixed-braces",
            "4:55 error: a single brace, while other JSON in this command has doubled ones "
            "(double every brace that is no placeholder, or none)",
            id="both styles",
        ),
        pytest.param(
            FIRST + "defaults: {prot: 1}\ncommand: vllm serve a/b --port 1\n",
            "unused-default",
            "4:12 warning: `prot` fills no placeholder of the command: to change it changes "
            "nothing (write `{prot}` where it belongs, or remove it)",
            id="default that fills nothing",
        ),
        pytest.param(
            FIRST + "defaults: {a-b: 1}\ncommand: vllm serve a/b --port 1\n",
            "unused-default",
            "4:12 warning: `a-b` fills no placeholder of the command: to change it changes nothing "
            "(give it a name of letters, digits and `_`, or remove it)",
            id="default that can fill nothing",
        ),
        pytest.param(
            FIRST + "defaults: {port: 1}\ncommand: vllm serve a/b --port {port!r}\n",
            "not-a-placeholder",
            "5:32 error: `{port!r}` stays as it stands, since a placeholder is a name of letters, "
            "digits and `_` in braces, and no more; run-recipe would fill this in (write `{name}`, "
            "and the value in `defaults` as it shall stand here)",
            id="field of str.format in version 1",
        ),
        pytest.param(
            SECOND + "defaults: {a-b: 1}\ncommand: vllm serve a/b --port {a-b}\n",
            "not-a-placeholder",
            "3:32 error: `{a-b}` stays as it stands, since a placeholder is a name of letters, "
            "digits and `_` in braces, and no more (write `{name}`, and the value in `defaults` as "
            "it shall stand here)",
            id="name with a hyphen in version 2",
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
        pytest.param(
            FIRST
            + "defaults: {k: 1}\ncommand: vllm serve a/b --speculative-config "
            + "'{{\"num_speculative_tokens\":{k}}}'\n",
            id="version 1, doubled, with a placeholder inside",
        ),
        pytest.param(
            SECOND + f"command: vllm serve a/b --speculative-config '{MTP}'\n",
            id="version 2, single",
        ),
        pytest.param(SECOND + "model: a/b\ncommand: vllm serve {model}\n", id="model in version 2"),
        pytest.param(SECOND + "command: vllm serve a/b --host ${NODE_IP}\n", id="variable"),
        pytest.param(
            SECOND + "defaults: {tensor_parallel: 2}\ncommand: vllm serve a/b\n",
            id="default that sparkrun reads itself",
        ),
        pytest.param(
            SECOND + "defaults: {a: '{b}', b: x}\ncommand: vllm serve a/b --host {a}\n",
            id="default that fills another",
        ),
    ],
)
def test_braces_that_every_launcher_reads_alike_are_no_finding(tmp_path: Path, text: str) -> None:
    of_braces = {"unknown-placeholder", "single-brace", "doubled-braces", "mixed-braces"}

    assert not codes(tmp_path, text) & {*of_braces, "unused-default"}


def test_each_word_with_single_braces_is_named_once(tmp_path: Path) -> None:
    text = FIRST + f"command: vllm serve a/b --a '{MTP}' --b '{MTP}'\n"

    places = [line.partition(" ")[0] for line in found(tmp_path, text, "single-brace")]

    assert places == ["4:30", "4:53"]


@pytest.mark.parametrize(
    "field", ["{x-y}", "{num:>5}", "{num!r}", "{num.real}", "{num[0]}", "{num:{num}}", "{x-y!s:>3}"]
)
@pytest.mark.parametrize("quote", ["", "'"])
def test_what_run_recipe_alone_would_fill_in_is_an_error_and_no_single_brace(
    tmp_path: Path, field: str, quote: str
) -> None:
    text = FIRST + "defaults: {x-y: 1, num: 2}\n"
    text += f'command: "vllm serve a/b --port {quote}{field}{quote}"\n'

    told = codes(tmp_path, text)

    assert "not-a-placeholder" in told


@pytest.mark.parametrize("literal", ["{}", "{0}", '{"num":1}', "{num", "{nums:>5}", "{{num:>5}}"])
def test_braces_of_what_is_no_known_name_are_no_field(tmp_path: Path, literal: str) -> None:
    text = FIRST + f"defaults: {{num: 2}}\ncommand: vllm serve a/b --port {{num}} '{literal}'\n"

    assert "not-a-placeholder" not in codes(tmp_path, text)


def test_default_that_only_an_assignment_names_is_used(tmp_path: Path) -> None:
    text = FIRST + "defaults: {a: 1}\ncommand: B={a} vllm serve a/b\n"

    assert "unused-default" not in codes(tmp_path, text)
