import re
from pathlib import Path

import pytest

from proxy.cli import build_parser, main
from proxy.demo.imitation.variant import VariantName

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", list(VariantName))
def test_every_variant_can_be_named(name: VariantName) -> None:
    assert build_parser().parse_args(["demo", "--imitate", name]).imitate == name


@pytest.mark.parametrize(
    "arguments",
    [
        ["--imitate", "mtp9"],
        ["--imitate", "mtp1", "--upstream", "http://127.0.0.1:1"],
        ["--imitate", "mtp1", "--speed", "0"],
        ["--imitate", "mtp1", "--speed", "nan"],
        ["--imitate", "mtp1", "--rate", "-1"],
        ["--imitate", "mtp1", "--restart-minutes", "x"],
    ],
    ids=["variant", "both", "standstill", "no number", "negative", "text"],
)
def test_wrong_option_is_refused_with_what_is_allowed(
    arguments: list[str], capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["demo", *arguments])

    assert caught.value.code == 2
    assert "--" in capsys.readouterr().err


def test_fault_that_is_none_is_refused_before_anything_starts(capsys: Capture) -> None:
    assert main(["demo", "--imitate", "mtp1", "--fault", "nonsense=1"]) == 2

    assert "`nonsense=1` is no rate of a fault" in capsys.readouterr().err


def test_tour_s_own_option_is_refused(capsys: Capture) -> None:
    assert main(["demo", "--imitate", "mtp1", "--once"]) == 2

    assert "--once: goes with the tour" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        ["--fault", "not_json=1"],
        ["--seed", "1"],
        ["--speed", "1"],
        ["--rate", "0"],
        ["--restart-minutes", "0"],
        ["--probe"],
        ["--imitation-port", "8000"],
        ["--ledger", "kept.db"],
        ["--prometheus"],
        ["--prometheus-port", "9090"],
    ],
    ids=lambda given: given[0],
)
def test_option_of_the_imitation_is_refused_without_one(given: list[str], capsys: Capture) -> None:
    assert main(["demo", "--upstream", "http://127.0.0.1:1", *given]) == 2

    remedy = "goes with --imitate alone (add --imitate mtp1, or leave it out)"
    assert capsys.readouterr().err == f"error: {given[0]}: {remedy}\n"


def test_every_needless_option_is_told_at_once(capsys: Capture) -> None:
    assert main(["demo", "--seed", "2", "--prometheus", "--ledger", "kept.db"]) == 2

    assert capsys.readouterr().err.count("goes with --imitate alone") == 3


def test_port_of_a_prometheus_that_is_not_started_is_refused(capsys: Capture) -> None:
    assert main(["demo", "--imitate", "mtp1", "--prometheus-port", "9091"]) == 2

    assert "--prometheus-port: goes with --prometheus" in capsys.readouterr().err


def test_page_tells_of_every_option(capsys: Capture) -> None:
    page = (Path(__file__).parents[1] / "docs" / "imitation.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["demo", "--help"])

    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out.partition("with --imitate:")[2]))
    assert len(options) > 7
    assert {option for option in options if f"`{option}" not in page} == set()
