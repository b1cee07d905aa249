"""The variants of the article as an imitation keeps their pace: each number and how it is known.

TTFR and tok/s are the article's where it has them. What it does not state is assumed here, and
says so; how many draft tokens land follows from tok/s and an assumed time of one engine step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from typing_extensions import override

from proxy.data_files import recipes_folder
from proxy.recipes.evidence.results import Results, read_results
from proxy.recipes.reading import read_recipe

DEFAULT_SEATS: Final = 4
MAX_MODEL_LEN: Final = 262_144
_LENGTHS: Final = (32, 128, 256, 512)
_REFERENCE_LENGTH: Final = 128
_HALVINGS: Final = 40
_LIKE_AUTO: Final = "the article says only: slightly below the automatic backend"


class VariantName(StrEnum):
    """What `--imitate` takes."""

    BASELINE = "baseline"
    MTP1 = "mtp1"
    MTP2 = "mtp2"
    DFLASH = "dflash"
    NVFP4 = "nvfp4"


@dataclass(frozen=True, slots=True)
class Given:
    """One number: stated or derived in the article, or assumed, with the reason."""

    what: str
    value: float
    unit: str
    known: str

    @property
    def assumed(self) -> bool:
        return self.known.startswith("assumed")

    @override
    def __str__(self) -> str:
        return f"{self.what} {f'{self.value:g} {self.unit}'.strip()}: {self.known}"


@dataclass(frozen=True, slots=True)
class _Assumed:
    """What the article leaves open. `length`: tokens of an engine step at 128 output tokens."""

    article: str
    length: float
    rates: Mapping[int, tuple[float, str]]
    ttfr: tuple[float, str] | None = None
    rate_deviation: float = 0.02


_ASSUMED: Final[Mapping[VariantName, _Assumed]] = {
    VariantName.BASELINE: _Assumed("baseline", 1.0, {}),
    VariantName.MTP1: _Assumed(
        "mtp1-flashinfer", 1.7, {256: (62.5, _LIKE_AUTO), 512: (60.0, _LIKE_AUTO)}
    ),
    VariantName.MTP2: _Assumed(
        "mtp2",
        2.2,
        {256: (62.5, "practically as MTP1"), 512: (57.1, "4.9 percent below mtp1's assumed 60")},
        (184.6, "the middle of the article's 178.4 to 190.8"),
    ),
    VariantName.DFLASH: _Assumed("dflash", 4.0, {}, (150.0, "not stated; near MTP1")),
    VariantName.NVFP4: _Assumed(
        "nvfp4-mtp3",
        2.6,
        dict.fromkeys((32, 256, 512), (114.0, "as at 128 tokens")),
        (150.0, "not stated; near MTP1"),
        rate_deviation=0.08,  # the article: a spread much larger than MTP1's, without a number
    ),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """What the imitation keeps to. `recipe`: the file that a lane before it names.

    `rates`: output tokens to tok/s, ascending. Deviations are relative standard deviations.
    `draft_tokens`: draft tokens of an engine step, 0 without speculation.
    """

    name: VariantName
    recipe: Path
    ttfr: Given
    rates: Mapping[int, Given]
    draft_tokens: int
    step_seconds: float
    seats: Given
    ttfr_deviation: float = 0.04
    rate_deviation: float = 0.02

    @property
    def model(self) -> str:
        """The name in /v1/models."""
        return f"imitation-{self.name}"

    @property
    def ttfr_seconds(self) -> float:
        return self.ttfr.value / 1000

    def tokens_per_second(self, output_tokens: int) -> float:
        """Between two known lengths on the straight line, beyond them as at the nearest."""
        known = [(length, given.value) for length, given in self.rates.items()]
        for (low, slow), (high, fast) in pairwise(known):
            if low <= output_tokens <= high:
                return slow + (fast - slow) * (output_tokens - low) / (high - low)
        return known[0][1] if output_tokens < known[0][0] else known[-1][1]

    def acceptance(self, output_tokens: int) -> float:
        """The chance q that a draft token is accepted when the one before it was.

        tok/s times the step's time is the mean number of tokens of a step, 1 + q + q² + … + q^k.
        """
        wanted = self.tokens_per_second(output_tokens) * self.step_seconds - 1
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS if self.draft_tokens else 0):
            middle = (low + high) / 2
            accepted = sum(middle**position for position in range(1, self.draft_tokens + 1))
            low, high = (middle, high) if accepted < wanted else (low, middle)
        return low

    def numbers(self) -> Iterator[Given]:
        """Every number that it keeps to, for the reader."""
        yield self.ttfr
        yield from self.rates.values()
        if self.draft_tokens:
            acceptance = self.acceptance(_REFERENCE_LENGTH)
            reason = f"assumed: so that steps of {1000 * self.step_seconds:.1f} ms give that tok/s"
            yield Given("acceptance of a draft token", round(acceptance, 3), "", reason)
        yield self.seats
        spread = "assumed: the article's standard deviations are not stated"
        yield Given("spread of TTFR", 100 * self.ttfr_deviation, "percent", spread)
        yield Given("spread of tok/s", 100 * self.rate_deviation, "percent", spread)


def read_variant(name: VariantName, recipes: Path | None = None) -> Variant:
    """A variant from the article's results and its recipe. Raises `RecipeError`."""
    folder = recipes or recipes_folder()
    results = read_results(folder / "results" / "article.yaml")
    assumed = _ASSUMED[name]
    recipe = folder / (results.variants[assumed.article].recipe or "")
    engine = read_recipe(recipe).engine
    rates = {length: _rate(results, assumed, length) for length in _LENGTHS}
    return Variant(
        name=name,
        recipe=recipe,
        ttfr=_ttfr(results, assumed),
        rates=rates,
        draft_tokens=(engine.speculation.tokens or 0) if engine.speculation else 0,
        step_seconds=assumed.length / rates[_REFERENCE_LENGTH].value,
        seats=_seats(engine.max_num_seqs),
        rate_deviation=assumed.rate_deviation,
    )


def _seats(of_recipe: int | None) -> Given:
    known = "in the recipe" if of_recipe else "assumed: its recipe names none"
    return Given("max_num_seqs", of_recipe or DEFAULT_SEATS, "", known)


def _ttfr(results: Results, assumed: _Assumed) -> Given:
    if assumed.ttfr:
        value, reason = assumed.ttfr
        return Given("TTFR", value, "ms", f"assumed: {reason}")
    return _given(results, assumed.article, "ttfr", "TTFR", "ms")


def _rate(results: Results, assumed: _Assumed, length: int) -> Given:
    what = f"decode rate at {length} tokens"
    if length in assumed.rates:
        value, reason = assumed.rates[length]
        return Given(what, value, "tok/s", f"assumed: {reason}")
    return _given(results, assumed.article, f"tg{length}", what, "tok/s")


def _given(results: Results, variant: str, name: str, what: str, unit: str) -> Given:
    figure = results.variants[variant].figures[name]
    return Given(what, float(figure.value or 0), unit, f"{figure.status} in the article")
