"""Puts what a run found into pages that people wrote: between two marks, and nowhere else."""

from pathlib import Path

from processes import HERE

ROOT = HERE.parent
PERFORMANCE = ROOT / "docs/performance.md"
FIGURE = ROOT / "docs/performance.svg"
README = ROOT / "README.md"


class NoSuchSection(Exception):
    """A page has no such marks."""


def write_section(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of a section. Raises `NoSuchSection`."""
    page.write_text(with_section(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def with_section(page: str, name: str, text: str) -> str:
    """The page with this text in the section."""
    opening, closing = _marks(name)
    before, found_opening, rest = page.partition(opening)
    _, found_closing, after = rest.partition(closing)
    if not found_opening or not found_closing:
        raise NoSuchSection(f"the page needs the lines {opening} and {closing}")
    return f"{before}{opening}\n\n{text.strip()}\n\n{closing}{after}"


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: written by `make bench` -->", f"<!-- end of {name} -->"
