import os
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from proxy.recipes.check.parser import check_with_parser
from proxy.recipes.check.subject import Subject
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.vllm.installed import InstalledVllm, find_vllm
from tests.fakes.vllm_package import python_with_vllm
from tests.recipes.checked import FACTS, SECOND, shown
from tests.recipes.made import reading_of

WITHOUT_TEMPLATE: Final = """
    import argparse

    class FlexibleArgumentParser(argparse.ArgumentParser):
        pass

    def make_arg_parser(parser):
        parser.add_argument("model", nargs="?")
        parser.add_argument("--chat-template")
        return parser

    def validate_parsed_serve_args(args):
        raise ValueError("The supplied chat template of --chat-template looks like a missing file")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> InstalledVllm:
    python = python_with_vllm(tmp_path_factory.mktemp("environment"))
    found = find_vllm(python, os.environ)
    assert found is not None
    return found


def said(folder: Path, installed: InstalledVllm, flags: str, keys: str = "") -> list[str]:
    reading = reading_of(folder, f"{SECOND}{keys}command: vllm serve a/b {flags}\n")
    subject = Subject.of(reading, Overrides({}), FACTS, "9.8.7")
    assert subject is not None
    return [shown(finding, folder) for finding in check_with_parser(subject, installed)]


def test_arguments_that_the_parser_takes_are_no_finding(
    tmp_path: Path, installed: InstalledVllm
) -> None:
    assert said(tmp_path, installed, "--port 1") == []


def test_refusal_stands_at_the_flag_that_it_names(tmp_path: Path, installed: InstalledVllm) -> None:
    assert said(tmp_path, installed, "--eager --port x") == [
        (
            "2:33 error: vLLM 9.8.7 refuses the arguments: argument --port: invalid int value: 'x' "
            "(mend the flag that it names)"
        )
    ]


def test_flag_that_only_another_build_may_know_is_a_warning(
    tmp_path: Path, installed: InstalledVllm
) -> None:
    keys = "container: owner/fork\n"

    assert said(tmp_path, installed, "--zzz", keys) == [
        (
            "3:25 warning: vLLM 9.8.7 refuses the arguments: unrecognized arguments: --zzz "
            "(mend the flag that it names; the recipe names a build of its own, which may know it)"
        )
    ]


def test_refusal_that_names_no_flag_stands_at_the_command(
    tmp_path: Path, installed: InstalledVllm
) -> None:
    (line,) = said(tmp_path, installed, "second-word")

    assert line.startswith("2:10 error: vLLM 9.8.7 refuses the arguments: ")


def test_what_the_parser_was_not_asked_is_a_note(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = python_with_vllm(tmp_path_factory.mktemp("environment"))
    found = find_vllm(python, os.environ)
    assert found is not None

    lines = said(tmp_path, found, "--imports antigravity")

    assert lines[-1].startswith("2:10 note: vLLM's own parser was not asked everything: ")


def test_parser_that_cannot_be_asked_is_a_warning(tmp_path: Path, installed: InstalledVllm) -> None:
    broken = replace(installed, python=tmp_path / "no-python")

    (line,) = said(tmp_path, broken, "--port 1")

    assert line.startswith("2:10 warning: vLLM's own parser could not be asked: ")


def test_chat_template_of_a_container_is_not_missed_here(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = {"entrypoints/launchers/cli_args.py": WITHOUT_TEMPLATE}
    python = python_with_vllm(tmp_path_factory.mktemp("environment"), changed=changed)
    found = find_vllm(python, os.environ)
    assert found is not None

    inside = said(tmp_path, found, "--chat-template x.jinja", "container: vllm-node\n")
    here = said(tmp_path, found, "--chat-template x.jinja")

    assert inside == [
        (
            "3:41 note: the chat template is no file of this machine, and vLLM's parser stops "
            "there (see that the container has it; a mod of the recipe may bring it)"
        )
    ]
    assert here[0].startswith("2:25 error: vLLM 9.8.7 refuses the arguments: ")
