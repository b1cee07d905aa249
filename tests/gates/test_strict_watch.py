import pytest

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.json_prefix import Finding, Limits
from proxy.gates.strict_watch import StrictWatch


def _explain(choice: int, finding: Finding) -> Verdict:
    return Verdict("test", Result.FAIL, finding.fault, place=str(choice))


def _watch(spared: tuple[str, ...] = (), *, spare_prose: bool = False) -> StrictWatch:
    limits = Limits(max_whitespace_run=8)
    return StrictWatch(limits, spared, spare_prose=spare_prose, explain=_explain)


def _faults(watch: StrictWatch, text: str) -> list[Fault | None]:
    verdicts = [watch.feed(0, character) for character in text]
    return [verdict.fault if verdict else None for verdict in verdicts]


@pytest.mark.parametrize("spare_prose", [False, True])
@pytest.mark.parametrize("text", ['\n\n{"a":1}', "[1, 2]", '"```"'])
def test_sound_beginning_raises_no_alarm(text: str, *, spare_prose: bool) -> None:
    assert not any(_faults(_watch(spare_prose=spare_prose), text))


def test_fault_is_told_at_its_character() -> None:
    assert _faults(_watch(), '{"{"a') == [None, None, None, None, Fault.LEADING_JUNK]


def test_each_choice_has_its_own_state() -> None:
    watch = _watch()
    watch.feed(0, "{")
    watch.feed(1, '{"a"')

    verdict = watch.feed(0, "{")

    assert verdict is not None
    assert verdict.place == "0"
    assert watch.feed(1, ":1}") is None


@pytest.mark.parametrize(
    "text", ['```json\n{"a":1}\n```', "\n```\n{{", '<think>Hm {{</think>{"a":1}', "</think>{}"]
)
def test_beginning_that_a_repair_could_save_is_spared(text: str) -> None:
    spared = ("```", "<think>", "</think>")

    assert not any(_faults(_watch(spared), text))
    assert _watch(spared).feed(0, text) is None


@pytest.mark.parametrize(
    ("text", "at"), [("``x", 2), ("<b>", 1), ("<thank>", 3), (" Hello", 1), ("</x", 2)]
)
def test_beginning_that_only_resembles_one_is_not_spared(text: str, at: int) -> None:
    faults = _faults(_watch(("```", "<think>", "</think>")), text)

    assert faults[:at] == [None] * at
    assert faults[at] is Fault.LEADING_JUNK


def test_beginning_is_not_spared_without_its_repair() -> None:
    verdict = _watch(("```",)).feed(0, "<think>")

    assert verdict is not None
    assert verdict.fault is Fault.LEADING_JUNK


def test_runaway_before_a_spared_beginning_is_told() -> None:
    verdict = _watch(("```",)).feed(0, "\n" * 9 + "```")

    assert verdict is not None
    assert verdict.fault is Fault.WHITESPACE_RUNAWAY


def test_prose_before_a_possible_tool_call_is_spared_but_broken_json_is_not() -> None:
    assert _watch(spare_prose=True).feed(0, "Let me look.") is None

    verdict = _watch(spare_prose=True).feed(0, '{"a":}')

    assert verdict is not None
    assert verdict.fault is Fault.NOT_JSON
