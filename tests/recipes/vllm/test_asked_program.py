import fcntl
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from proxy.recipes.vllm.asked_program import AskLimits, ProgramFailed, ask_program

LIMITS: Final = AskLimits(seconds=30.0, output_bytes=1000)


def _ask(program: str, *arguments: str, question: bytes | None = None) -> bytes:
    command = (sys.executable, "-c", program, *arguments)
    return ask_program(command, question, os.environ, LIMITS)


def test_answer_is_what_it_prints() -> None:
    assert _ask("import sys; print(sys.argv[1])", "it's $HOME; `id`") == b"it's $HOME; `id`\n"


def test_question_is_its_standard_input() -> None:
    question = b"q" * (1 << 20)

    answer = _ask("import sys; print(len(sys.stdin.read()))", question=question)

    assert answer == b"1048576\n"


def test_standard_input_is_empty_without_a_question() -> None:
    assert _ask("import sys; print(repr(sys.stdin.read()))") == b"''\n"


def test_variables_are_those_given_and_no_others() -> None:
    command = (sys.executable, "-c", "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))")

    assert ask_program(command, None, {"ONLY": "1"}, LIMITS) == b"['ONLY']\n"


def test_status_is_told_with_the_last_lines() -> None:
    program = "import sys; print('\\n'.join(map(str, range(20))), file=sys.stderr); sys.exit(3)"

    with pytest.raises(ProgramFailed, match="it ended with status 3") as raised:
        _ask(program)

    assert raised.value.last_lines == tuple(str(number) for number in range(12, 20))


def test_flood_of_complaints_does_not_hold_up_the_answer() -> None:
    assert _ask("import sys; sys.stderr.write('x' * 1_000_000); print('done')") == b"done\n"


def test_program_that_is_none_is_told() -> None:
    with pytest.raises(ProgramFailed, match="it could not be started"):
        ask_program(("/nowhere/python",), None, {}, LIMITS)


def test_silent_program_is_given_up() -> None:
    command = (sys.executable, "-c", "import signal; signal.pause()")

    with pytest.raises(ProgramFailed, match=r"it had not answered after 0\.2 s"):
        ask_program(command, None, os.environ, AskLimits(seconds=0.2))


def test_program_that_lingers_after_its_answer_is_given_up() -> None:
    program = "import os, signal; os.close(1); os.close(2); signal.pause()"

    with pytest.raises(ProgramFailed, match="it had not answered"):
        ask_program((sys.executable, "-c", program), None, os.environ, AskLimits(seconds=1.0))


def test_too_much_output_ends_it_and_what_it_started(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    program = """
import fcntl, os, signal, sys
held = open(sys.argv[1])
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    signal.pause()
print("x" * 1_000_000, flush=True)
signal.pause()
"""

    with pytest.raises(ProgramFailed, match="it printed more than 1000 bytes"):
        _ask(program, str(lock))

    with lock.open() as free:
        fcntl.flock(free, fcntl.LOCK_EX)  # waits for ever while one of the two lives
