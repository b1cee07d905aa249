import re
from pathlib import Path

import pytest

from proxy.errors import Place
from proxy.recipes.check.finding import Severity
from proxy.recipes.check.subject import Document, Subject
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.recipe import Version
from tests.recipes.checked import FACTS, SECOND
from tests.recipes.made import reading_of

SERVE = "command: vllm serve a/b --enable-prefix-caching --no-enable-chunked-prefill\n"


def document(folder: Path, text: str) -> Document:
    return Document.of(reading_of(folder, text))


def subject(folder: Path, text: str, installed: str | None = None) -> Subject | None:
    return Subject.of(reading_of(folder, text), Overrides({}), FACTS, installed)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", False),
        ("container: vllm-node\n", False),
        ("container: vllm/vllm-openai:v0.32.0\n", False),
        ("container: ghcr.io/spark-arena/dgx-vllm-eugr-nightly:latest\n", False),
        ("container: vllm-node-b12x\n", True),
        ("container: owner/fork@sha256:00\n", True),
        ("container: vllm-node\nmods: [mods/x]\n", True),
        ("build_args: [--x]\n", True),
        ("runtime_version: k12\n", True),
    ],
)
def test_own_build_and_patches_may_know_more(tmp_path: Path, keys: str, *, expected: bool) -> None:
    found = document(tmp_path, SECOND + keys + SERVE)

    assert found.may_know_more is expected
    assert found.unknown_is is (Severity.WARNING if expected else Severity.ERROR)
    assert ("build of its own" in found.or_newer("remove it")) is expected


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("recipe_version: 1\n", Version.SPARK_VLLM_DOCKER),
        ('recipe_version: "1"\n', Version.SPARK_VLLM_DOCKER),
        ("recipe_version: 2\n", Version.SPARKRUN),
        ("", Version.SPARKRUN),
    ],
)
def test_version_may_be_a_number(tmp_path: Path, text: str, version: Version) -> None:
    assert document(tmp_path, text + SERVE).version is version


def test_file_that_is_no_mapping_is_an_empty_document(tmp_path: Path) -> None:
    found = document(tmp_path, "- a\n")

    assert found.data == {}
    assert found.mapping("env") == {}
    assert found.text("container") is None


def test_what_is_written_can_be_read_at_a_place(tmp_path: Path) -> None:
    found = document(tmp_path, "a: 010 # eight\n" + SERVE)

    assert found.written(Place("r.yaml", 1, 4), re.compile(r"\S+")) == "010"
    assert found.written(Place("r.yaml"), re.compile(r"\S+")) is None
    assert found.written(Place("r.yaml", 99, 1), re.compile(r"\S+")) is None


def test_subject_knows_its_switches(tmp_path: Path) -> None:
    found = subject(tmp_path, SECOND + SERVE, "0.32.0")

    assert found is not None
    assert found.is_on("--enable-prefix-caching")
    assert not found.is_on("--enable-chunked-prefill")
    assert not found.is_on("--zzz")
    assert found.build.told_by == "the vLLM installed here"


def test_no_command_is_no_subject(tmp_path: Path) -> None:
    assert subject(tmp_path, SECOND) is None
