from pathlib import Path

import pytest

from proxy.demo.imitation.faults import DEFAULT_RATES, MadeFault, possible_faults, read_rates
from proxy.errors import ConfigError
from tests.fakes.imitation import STRICT, TOOL, asked

TRANSPORT = {MadeFault.ERROR_IN_STREAM, MadeFault.STREAM_CUT, MadeFault.STALL}


def test_rates_are_the_defaults_unless_they_are_given() -> None:
    rates = read_rates(["not_json=0.5", "cold_strict_json=1"])

    assert rates.of("not_json") == 0.5
    assert rates.of("cold_strict_json") == 1
    assert rates.of(MadeFault.FENCED) == DEFAULT_RATES[MadeFault.FENCED]


def test_none_sets_all_to_zero_and_later_ones_count() -> None:
    assert read_rates(["not_json=0.5", "none", "stall=.25"]).text == "stall=0.25"


def test_every_fault_has_a_default_rate() -> None:
    assert set(MadeFault) <= DEFAULT_RATES.keys()


@pytest.mark.parametrize(
    "text", ["not_json", "not_json=2", "not_json=-1", "nonsense=0.1", "=", "a=b"]
)
def test_rate_that_is_none_is_refused_with_the_names(text: str) -> None:
    with pytest.raises(ConfigError, match="whitespace_runaway") as caught:
        read_rates([text, "other=1"])

    assert len(caught.value.problems) == 2


def test_faults_befall_only_what_can_have_them() -> None:
    plain = set(possible_faults(asked("Hello")))
    strict = set(possible_faults(asked("Hello", response_format=STRICT)))
    calling = set(possible_faults(asked("Hello", tools=[TOOL], stream=True)))
    sourced = set(possible_faults(asked("A text of 20 words. <source>Water.</source>")))

    assert plain == {MadeFault.SERVER_ERROR}
    assert MadeFault.DOUBLED_BRACE in strict
    assert not strict & TRANSPORT
    assert calling == {
        MadeFault.MANGLED_ARGUMENTS,
        MadeFault.CALL_IN_TEXT,
        MadeFault.SERVER_ERROR,
        *TRANSPORT,
    }
    assert {MadeFault.TOO_LONG, MadeFault.UNSUPPORTED_NUMBER} <= sourced


def test_page_tells_of_every_fault() -> None:
    page = (Path(__file__).parents[3] / "docs" / "imitation.md").read_text(encoding="utf-8")

    assert [name for name in DEFAULT_RATES if f"`{name}`" not in page] == []
