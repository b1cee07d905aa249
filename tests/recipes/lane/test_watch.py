import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from proxy.recipes.lane.expectations import ShownSwitch
from proxy.recipes.lane.watch import RecipeWatch
from proxy.recipes.reading import read_recipe
from proxy.telemetry.engine_start import EngineStartRecord, StartSource
from tests.fakes.engine import Told
from tests.fakes.served_recipe import MTP1_FACTS, write_recipe

START = EngineStartRecord("main", "1.5", StartSource.METRICS, seen_at=2.0)
MTP2 = {**MTP1_FACTS, "speculative_tokens": "2"}


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def watch(tmp_path: Path, told: Told) -> RecipeWatch:
    return RecipeWatch(read_recipe(write_recipe(tmp_path)), told)


def _with(facts: Mapping[str, str], **more: object) -> EngineStartRecord:
    return msgspec.structs.replace(START, facts=facts, **more)


def test_start_whose_facts_are_not_known_is_handed_on_as_it_is(
    watch: RecipeWatch, told: Told
) -> None:
    watch.start(START)

    assert told.records == [START]
    assert watch.contradictions is None
    assert watch.switches == set()


def test_record_says_its_recipe_and_what_it_contradicts(watch: RecipeWatch, told: Told) -> None:
    watch.start(_with(MTP2 | {"max_model_len": "4096"}))

    label = f"tiny-mtp1@{watch.recipe.hash}"
    facts = told.records[-1].facts
    assert facts["recipe"] == label
    assert facts["contradicts"] == "max_model_len, speculative_tokens"
    assert watch.switches == {ShownSwitch.MAX_MODEL_LEN, ShownSwitch.SPECULATIVE_TOKENS}


def test_record_of_the_right_engine_contradicts_nothing_whatever_an_earlier_run_found(
    watch: RecipeWatch, told: Told
) -> None:
    watch.start(_with({**MTP1_FACTS, "recipe": "old@1", "contradicts": "model"}))

    assert told.records[-1].facts["contradicts"] == "nothing"
    assert watch.contradictions == ()


def test_contradiction_is_logged_once_for_each_start(
    watch: RecipeWatch, caplog: pytest.LogCaptureFixture
) -> None:
    watch.start(START)
    watch.start(_with(MTP2))
    watch.start(_with(MTP2, certified_at=3.0))
    watch.start(_with(MTP2, over_at=4.0))
    watch.start(msgspec.structs.replace(_with(MTP2), key="2.5"))

    lines = [record.getMessage().partition(" (")[0] for record in caplog.records]
    said = "speculative_tokens is 2 at the server, the recipe says 1"
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert lines == [
        f"recipe of lane main, engine start 1.5: {said}",
        f"recipe of lane main, engine start 2.5: {said}",
    ]


def test_contradiction_that_later_facts_show_is_logged_then(
    watch: RecipeWatch, caplog: pytest.LogCaptureFixture
) -> None:
    watch.start(_with({"vllm": "0.32.0"}))
    before = len(caplog.records)
    watch.start(_with(MTP2))

    assert (before, len(caplog.records)) == (0, 1)


def test_next_start_is_not_known_until_its_facts_are(watch: RecipeWatch) -> None:
    watch.start(_with(MTP2))
    watch.start(msgspec.structs.replace(START, key="2.5"))
    unknown = watch.contradictions
    watch.start(msgspec.structs.replace(_with(MTP1_FACTS), key="2.5"))

    assert unknown is None
    assert watch.contradictions == ()
