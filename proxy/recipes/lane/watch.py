"""Holds every start of a lane's engine against the recipe that it is said to run."""

import logging
from collections.abc import Collection
from typing import Final

import msgspec
from typing_extensions import override

from proxy.recipes.lane.expectations import Contradiction, ShownSwitch, contradictions
from proxy.recipes.lane.labels import recipe_label
from proxy.recipes.recipe import Recipe
from proxy.telemetry.engine_start import EngineStartRecord, StartSink

_LOG: Final = logging.getLogger(__name__)


class RecipeWatch(StartSink):
    """Stands before who else hears of the starts: what one contradicts is a fact of its record.

    Each contradiction is logged once for each start.
    """

    def __init__(self, recipe: Recipe, sink: StartSink) -> None:
        self._recipe = recipe
        self._sink = sink
        self._key: str | None = None
        self._found: tuple[Contradiction, ...] | None = None
        self._logged: set[Contradiction] = set()

    @property
    def recipe(self) -> Recipe:
        return self._recipe

    @property
    def contradictions(self) -> tuple[Contradiction, ...] | None:
        """Those of the present start; None while nothing is known of it."""
        return self._found

    @property
    def switches(self) -> Collection[ShownSwitch]:
        """What the present start contradicts."""
        return {each.switch for each in self._found or ()}

    @override
    def start(self, record: EngineStartRecord) -> None:
        if record.key != self._key:
            self._key, self._found = record.key, None
            self._logged.clear()
        self._sink.start(self._compared(record) if record.facts else record)

    def _compared(self, record: EngineStartRecord) -> EngineStartRecord:
        """The record with two facts more, in the place of what an earlier run found."""
        self._found = contradictions(self._recipe, record.facts)
        for each in self._found:
            if each not in self._logged:
                self._logged.add(each)
                _LOG.warning(
                    "recipe of lane %s, engine start %s: %s", record.lane, record.key, each.line
                )
        said = ", ".join(each.switch for each in self._found) or "nothing"
        facts = {**record.facts, "recipe": recipe_label(self._recipe), "contradicts": said}
        return msgspec.structs.replace(record, facts=facts)
