import sqlite3
import threading
from pathlib import Path

import msgspec
import pytest

from proxy.launch.start_store import store, with_boot_facts
from proxy.ledger.address import read_address
from proxy.ledger.queries import read_starts
from proxy.ledger.trouble import LedgerTrouble
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from tests.fakes.launch import recipe_at

RECORD = EngineStartRecord(
    "main", "1000.5", StartSource.METRICS, 1010.0, started_at=1000.5, ready_seconds=9.5
)


def test_server_s_word_counts_more_than_its_log_s(tmp_path: Path) -> None:
    recipe = recipe_at(tmp_path, 8000)
    record = EngineStartRecord(
        "main", "1", StartSource.METRICS, 2.0, facts={"vllm": "0.32.0", "speculative": "True"}
    )

    told = with_boot_facts(record, recipe, {"vllm": "0.31.0", "kv_cache_tokens": "45056"})

    assert told.facts == {
        "vllm": "0.32.0",
        "speculative": "True",
        "kv_cache_tokens": "45056",
        "recipe": f"tiny recipe@{recipe.hash}",
        "contradicts": "nothing",
    }


def test_contradiction_of_the_recipe_is_a_fact_of_the_start(tmp_path: Path) -> None:
    recipe = recipe_at(tmp_path, 8000)

    told = with_boot_facts(RECORD, recipe, {"max_model_len": "4096", "speculative": "False"})

    assert told.facts["contradicts"] == "max_model_len, speculation"


def test_facts_join_what_a_proxy_told_of_the_same_start(tmp_path: Path) -> None:
    address = read_address(f"sqlite:///{tmp_path}/ledger.db")
    of_proxy = EngineStartRecord(
        *("main", "1000.5", StartSource.METRICS, 1011.0),
        untouched=True,
        first_answer=FirstAnswer.VALID,
        facts={"vllm": "0.32.0"},
    )
    of_launcher = EngineStartRecord(
        *("main", "1000.5", StartSource.METRICS, 1010.0),
        ready_seconds=9.5,
        facts={"kv_cache_tokens": "45056"},
    )

    store(of_proxy, address)
    store(of_launcher, address)
    (start,) = read_starts(address, None, None)

    assert start.facts == {"vllm": "0.32.0", "kv_cache_tokens": "45056"}
    assert (start.first_answer, start.ready_seconds) == (FirstAnswer.VALID, 9.5)


def test_start_that_the_launcher_told_first_is_joined_too(tmp_path: Path) -> None:
    address = read_address(f"sqlite:///{tmp_path}/ledger.db")
    of_proxy = EngineStartRecord(
        *("main", "1000.5", StartSource.METRICS, 1011.0),
        untouched=True,
        first_answer=FirstAnswer.INVALID,
        first_fault="not_json",
    )

    store(RECORD, address)
    store(of_proxy, address)
    (start,) = read_starts(address, None, None)

    assert (start.first_answer, start.first_fault) == (FirstAnswer.INVALID, "not_json")
    assert (start.ready_seconds, start.untouched) == (9.5, True)


def test_ledger_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("no database")

    with pytest.raises(LedgerTrouble):
        store(RECORD, read_address(f"sqlite:///{tmp_path}/ledger.db"))


def test_ledger_that_somebody_has_locked_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    address = read_address(f"sqlite:///{file}")
    store(RECORD, address)
    locked = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    locked.execute("BEGIN IMMEDIATE")
    unlocking = threading.Timer(0.5, locked.execute, ["COMMIT"])
    unlocking.start()

    store(msgspec.structs.replace(RECORD, key="2000.5"), address)
    unlocking.join()
    locked.close()

    assert len(read_starts(address, None, None)) == 2
