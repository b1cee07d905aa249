"""Writes what is known of a launched engine start into the ledger, where proxies write too."""

import time
import uuid
from collections.abc import Mapping
from typing import Final

import msgspec

from proxy.ledger.address import LedgerAddress
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writer_process import WriterProcess
from proxy.recipes.lane.expectations import contradictions
from proxy.recipes.lane.labels import recipe_label
from proxy.recipes.recipe import Recipe
from proxy.telemetry.engine_start import EngineStartRecord

_LOCKED_TRIES: Final = 5
_LOCKED_SECONDS: Final = 0.5


def with_boot_facts(
    record: EngineStartRecord, recipe: Recipe, log_facts: Mapping[str, str]
) -> EngineStartRecord:
    """The record with what the log told, the recipe, and what the server contradicts of it.

    What the server says now counts more than what its log said.
    """
    facts = {**log_facts, **record.facts}
    said = ", ".join(each.switch for each in contradictions(recipe, facts)) or "nothing"
    known = {**facts, "recipe": recipe_label(recipe), "contradicts": said}
    return msgspec.structs.replace(record, facts=known)


def store(record: EngineStartRecord, address: LedgerAddress) -> None:
    """Write one record, and wait until it is written. Raises `LedgerTrouble`."""
    tries = _LOCKED_TRIES
    while True:
        try:
            return _write(record, address)
        except LedgerTrouble as trouble:
            tries -= 1
            if not tries or trouble.kind is not Trouble.LOCKED:
                raise
        time.sleep(_LOCKED_SECONDS)


def _write(record: EngineStartRecord, address: LedgerAddress) -> None:
    process = WriterProcess(address, uuid.uuid4().hex, lanes=())
    try:
        process.write([record])
    finally:
        process.close()
