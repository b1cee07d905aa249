"""The picture: well-formed, readable on dark pages, one row for each contender in each panel."""

from xml.etree import ElementTree as ET

from figure import PANELS, Axis, drawn
from tally import Figures
from turns import Turn

from tests.benchmarks.made_run import MACHINE, TITLES, run

SVG = "{http://www.w3.org/2000/svg}"


def picture(turns: list[Turn]) -> ET.Element:
    return ET.fromstring(drawn(turns, MACHINE))  # noqa: S314 -- our own


def texts(svg: ET.Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def test_every_measured_ratio_is_a_dot_with_its_figure() -> None:
    svg = picture(run())

    # No proxy has no memory of its own here, as in a real run; all else was measured.
    assert len(list(svg.iter(f"{SVG}circle"))) == 5 * len(PANELS)
    assert "0.50×" in texts(svg)  # noqa: RUF001 -- a multiplication sign


def test_contenders_stand_beside_each_row_of_panels() -> None:
    svg = picture(run())

    assert texts(svg).count("Sluicegate, pass") == len(PANELS) // 2


def test_colours_follow_the_readers_scheme() -> None:
    style = picture(run()).find(f"{SVG}style")

    assert style is not None
    assert "@media (prefers-color-scheme: dark)" in (style.text or "")


def test_spread_is_a_whisker() -> None:
    turns = run()
    turns[2] = Turn(1, "pass", TITLES["pass"], {"json_16": Figures(9, 0, 9000.0, replies=9)})

    whiskers = [
        line for line in picture(turns).iter(f"{SVG}line") if "whisker" in line.get("class", "")
    ]

    assert [whisker.get("class") for whisker in whiskers] == ["whisker ours"]


def test_load_of_nothing_but_errors_is_named_so() -> None:
    failed = Turn(1, "portkey", TITLES["portkey"], {"stream_16": Figures(0, 7, per_second=0.0)})

    assert texts(picture([*run(), failed])).count("errors") == 1


def test_machine_and_date_stand_below() -> None:
    assert texts(picture(run()))[-1] == f"{MACHINE[0]}; {MACHINE[1]}"


def test_axis_is_logarithmic() -> None:
    axis = Axis(low=-1, high=1, left=100, width=200)

    assert [axis.x(tick) for tick in axis.ticks()] == [100, 200, 300]
