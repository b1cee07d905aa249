"""Sections of pages that a run writes."""

from pathlib import Path

import pytest
from growth import SECTION as GROWTH
from overhead import SECTION as COMPARISON
from pages import PERFORMANCE, README, NoSuchSection, with_section, write_section
from soak import SECTION as SOAK

PAGE = """before
<!-- comparison: written by `make bench` -->
old
<!-- end of comparison -->
after
"""


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)

    write_section(page, "comparison", "new\n")
    write_section(page, "comparison", "newer")

    assert page.read_text() == PAGE.replace("old", "\nnewer\n")


@pytest.mark.parametrize(
    "page", [PAGE, PAGE.partition("<!-- end")[0]], ids=["another_section", "no_end"]
)
def test_page_without_the_marks_is_refused_with_their_spelling(page: str) -> None:
    name = "growth" if "end of" in page else "comparison"

    with pytest.raises(NoSuchSection, match=f"<!-- end of {name} -->"):
        with_section(page, name, "new")


@pytest.mark.parametrize(
    ("page", "section"),
    [
        (README, COMPARISON),
        (PERFORMANCE, COMPARISON),
        (PERFORMANCE, GROWTH),
        (PERFORMANCE, SOAK),
    ],
)
def test_pages_have_their_sections(page: Path, section: str) -> None:
    assert "new" in with_section(page.read_text(encoding="utf-8"), section, "new")
