"""A number on record in words: what it is of, how much, and how it is known."""

from typing import Final

from proxy.recipes.evidence.figures import Figure, formula_text

_NAMES: Final = {"ttfr": "TTFR", "mtp1": "MTP1", "auto": "(auto)", "tool": "Tool", "eval": "Eval"}


def name_words(name: str) -> str:
    """A figure's name as people read it: `tg128_more_than_baseline` begins with TG128."""
    words = name.split("_")
    return " ".join(
        word.upper() if word.startswith("tg") else _NAMES.get(word, word) for word in words
    )


def figure_words(figure: Figure) -> str:
    """The number, and how it is known: `59.1 tok/s, derived; = tg32 - mtp2.tg32`, for instance."""
    parts = [f"{figure.shown}, {figure.status}"]
    if figure.formula:
        parts.append(f"= {formula_text(figure.formula)}")
    if figure.runs:
        parts.append(f"mean of {figure.runs} runs")
    if figure.note:
        parts.append(figure.note)
    return "; ".join(parts)
