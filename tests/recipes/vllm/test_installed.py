import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from proxy.recipes.vllm.asked_program import AskLimits
from proxy.recipes.vllm.installed import (
    InstalledVllm,
    InstalledVllmError,
    ParserAnswer,
    find_vllm,
)
from tests.fakes.vllm_package import python_with_vllm

Script: TypeAlias = Callable[[str, str], Path]
MODULE: Final = ("-m", "vllm.entrypoints.cli.main")
without_own = pytest.mark.skipif(
    importlib.util.find_spec("vllm") is not None, reason="our own environment has vLLM"
)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_with_vllm(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Writes an executable script of a name."""

    def write(name: str, source: str) -> Path:
        path = tmp_path / name
        path.write_text(source)
        path.chmod(0o755)
        return path

    return write


def _named(program: Path, **environ: str) -> InstalledVllm:
    found = find_vllm(program, environ)
    assert found is not None
    return found


def test_python_that_is_named_starts_vllm_as_a_module(python: Path) -> None:
    found = _named(python)

    assert found.python == python
    assert found.program == (str(python), *MODULE)


def test_program_that_is_named_tells_its_python(python: Path, script: Script) -> None:
    program = script("vllm", f"#!{python}\nimport sys\n")

    found = _named(program)

    assert found.python == python
    assert found.program == (str(program),)


def test_options_behind_the_python_are_left_out(python: Path, script: Script) -> None:
    assert _named(script("vllm", f"#!{python} -sE\n")).python == python


def test_python_behind_env_is_looked_up_on_path(python: Path, script: Script) -> None:
    program = script("vllm", "#!/usr/bin/env -S python -I\n")

    assert _named(program, PATH=str(python.parent)).python == python


def test_python_with_a_blank_in_its_path_stands_in_the_second_line(
    script: Script, tmp_path: Path
) -> None:
    python = tmp_path / "a b" / "python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    trampoline = f"""#!/bin/sh\n'''exec' "{python}" "$0" "$@"\n' '''\nimport sys\n"""

    assert _named(script("vllm", trampoline)).python == python


def test_python_of_a_virtual_environment_is_not_resolved(python: Path, script: Script) -> None:
    assert python.is_symlink()
    assert _named(script("vllm", f"#!{python}\n")).python == python


@pytest.mark.parametrize(
    "source",
    [
        "#!/usr/bin/env bash\npyenv exec vllm\n",
        "#!/nowhere/python3\n",
        "#!/usr/bin/env\n",
        "#!\n",
        "#!'\n",
        "#!/bin/sh\necho\n",
        "#!/bin/sh\n'\n",
        "\x7fELF",
        "",
    ],
)
def test_program_that_names_no_python_is_refused(source: str, script: Script) -> None:
    with pytest.raises(InstalledVllmError, match="does not name its Python") as raised:
        find_vllm(script("vllm", source), {"PATH": "/usr/bin:/bin"})

    assert "name a `vllm` program or the Python" in str(raised.value)


def test_shim_that_is_called_python_is_taken_for_one(script: Script) -> None:
    shim = script("python3", "#!/usr/bin/env bash\nexec true\n")

    assert _named(shim).python == shim


def test_program_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstalledVllmError, match="is no program that can be run"):
        find_vllm(tmp_path / "vllm", {})


def test_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(InstalledVllmError, match="is no program that can be run"):
        find_vllm(tmp_path, {})


@without_own
def test_program_on_path_is_found(python: Path, script: Script, tmp_path: Path) -> None:
    script("vllm", f"#!{python}\n")

    found = find_vllm(None, {"PATH": str(tmp_path)})

    assert found is not None
    assert found.program == (str(tmp_path / "vllm"),)


@without_own
def test_where_no_vllm_is_none_is_found(tmp_path: Path) -> None:
    assert find_vllm(None, {"PATH": str(tmp_path)}) is None


def test_vllm_of_our_own_python_comes_before_path(python: Path) -> None:
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    program = (
        "import os; from pathlib import Path; from proxy.recipes.vllm.installed import find_vllm;"
        "print(find_vllm(None, os.environ).program)"
    )
    paths = os.pathsep.join((str(Path(__file__).parents[3]), str(packages)))

    done = subprocess.run(
        (sys.executable, "-c", program),
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == repr((sys.executable, *MODULE))


def test_facts_are_asked_of_its_python(python: Path) -> None:
    facts = _named(python).facts()

    assert facts.version == "9.8.7"
    assert facts.flag("--max_len") is not None


def test_variables_that_lead_python_astray_do_not_reach_it(python: Path, tmp_path: Path) -> None:
    (tmp_path / "vllm.py").write_text("raise SystemExit('astray')\n")

    facts = _named(python, PYTHONPATH=str(tmp_path), PYTHONHOME=str(tmp_path)).facts()

    assert facts.version == "9.8.7"


def test_arguments_are_checked_by_its_parser(python: Path) -> None:
    vllm = _named(python)

    assert vllm.check(["m", "--port", "1"]) == ParserAnswer("9.8.7", None)
    assert vllm.check(["m", "--port", "$(id)"]) == ParserAnswer(
        "9.8.7", "argument --port: invalid int value: '$(id)'"
    )
    assert vllm.check(["m", "--imports", "antigravity"]).skipped


def _standing_in(script: Script, source: str, seconds: float = 30.0) -> InstalledVllm:
    python = script("python3", f"#!/bin/sh\n{source}\n")
    return InstalledVllm(python, (str(python),), os.environ, AskLimits(seconds, 1000))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("echo junk", "gave an answer that cannot be read"),
        ("echo '{\"version\": 1}'", "gave an answer that cannot be read"),
        ("true", "gave an answer that cannot be read"),
        ("exec cat /dev/zero", "it printed more than 1000 bytes"),
        ("kill -9 $$", "it ended with status -9"),
    ],
    ids=["junk", "other JSON", "nothing", "flood", "death"],
)
@pytest.mark.parametrize("what", ["facts", "check"])
def test_useless_answer_is_told_with_a_remedy(
    what: str, source: str, message: str, script: Script
) -> None:
    vllm = _standing_in(script, source)

    with pytest.raises(InstalledVllmError, match=message) as raised:
        vllm.facts() if what == "facts" else vllm.check(["m"])

    assert str(vllm.python) in raised.value.message
    assert raised.value.remedy in str(raised.value)


def test_silence_is_not_waited_for_longer_than_the_limit(script: Script) -> None:
    vllm = _standing_in(script, "exec sleep 600", seconds=0.2)

    with pytest.raises(InstalledVllmError, match=r"it had not answered after 0\.2 s"):
        vllm.facts()


def test_last_words_of_a_python_without_vllm_are_told(tmp_path: Path) -> None:
    venv.create(tmp_path, symlinks=True)

    with pytest.raises(InstalledVllmError, match="it ended with status 1") as raised:
        _named(tmp_path / "bin" / "python").facts()

    assert raised.value.last_lines[-1] == "ModuleNotFoundError: No module named 'vllm'"
    assert raised.value.last_lines[-1] in str(raised.value)
