"""Recipe files of a test's own."""

from pathlib import Path

from proxy.recipes.reading import Reading, open_recipe, read_recipe
from proxy.recipes.recipe import Recipe


def written(folder: Path, text: str, name: str = "r.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def recipe_of(folder: Path, text: str, *overrides: str) -> Recipe:
    """Raises `RecipeError`."""
    return read_recipe(written(folder, text), overrides)


def reading_of(folder: Path, text: str, *overrides: str) -> Reading:
    return open_recipe(written(folder, text), overrides)


def problems_of(folder: Path, text: str, *overrides: str) -> list[str]:
    """What reading finds, with the file's folder left out."""
    problems = reading_of(folder, text, *overrides).problems
    return [str(problem).replace(f"{folder}/", "") for problem in problems]
