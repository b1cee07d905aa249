from decimal import Decimal

from proxy.recipes.evidence.figure_words import figure_words, name_words
from proxy.recipes.evidence.figures import Figure, Operation, Status


def test_name_of_a_figure_is_read_as_people_write_it() -> None:
    assert name_words("tg128_more_than_mtp1_auto") == "TG128 more than MTP1 (auto)"
    assert name_words("ttfr_above_baseline") == "TTFR above baseline"
    assert name_words("tool_eval_short") == "Tool Eval short"


def test_figure_says_how_it_is_known() -> None:
    figure = Figure(
        status=Status.DERIVED,
        unit="percent",
        value=Decimal("2.5"),
        formula={Operation.PERCENT_MORE: ("tg128", "auto.tg128")},
        runs=3,
        note="no second gain",
    )

    assert figure_words(figure) == (
        "2.5 percent, derived; = 100 * (tg128 / auto.tg128 - 1); mean of 3 runs; no second gain"
    )


def test_plain_figure_is_its_number_and_status() -> None:
    figure = Figure(status=Status.STATED, unit="ms", value=Decimal("148.2"), quote="148.2 ms")

    assert figure_words(figure) == "148.2 ms, stated"
