from pathlib import Path

import pytest

from proxy.telemetry.catalogue import CATALOGUE
from proxy.telemetry.reference import NoSuchSection, main, with_tables

PAGE = Path(__file__).parents[2] / "docs/metrics.md"


def test_committed_page_is_the_one_of_the_code() -> None:
    # `python -m proxy.telemetry.reference docs/metrics.md` writes it anew.
    page = PAGE.read_text(encoding="utf-8")

    assert page == with_tables(page)


def test_command_mends_a_page_that_was_edited_by_hand(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    edited = tmp_path / "metrics.md"
    edited.write_text(page.replace("requests by how they ended", "something else"))

    main([str(edited)])

    assert edited.read_text(encoding="utf-8") == page


def test_page_tells_meaning_and_query_of_every_metric() -> None:
    page = PAGE.read_text(encoding="utf-8")

    missing = [
        metric.name
        for metric in CATALOGUE
        if metric.meaning not in page or f"`{metric.query}`" not in page
    ]
    assert missing == []


def test_page_without_marks_is_an_error_that_names_them() -> None:
    with pytest.raises(NoSuchSection, match="end of metrics"):
        with_tables("# Metrics\n")
