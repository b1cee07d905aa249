import json
import threading
from pathlib import Path

import pytest

from tests.engines.cache import DEFAULT, VARIABLE, Cache, digest


def _cache(folder: Path) -> tuple[Cache, list[str]]:
    told: list[str] = []
    return Cache(folder, told.append), told


def _make(folder: Path) -> None:
    (folder / "thing").write_text("made")


def test_variable_names_the_folder_else_it_is_in_the_repository(tmp_path: Path) -> None:
    assert Cache.of({VARIABLE: str(tmp_path)}).folder == tmp_path
    assert Cache.of({}).folder == DEFAULT


def test_thing_is_made_once_and_told_of(tmp_path: Path) -> None:
    cache, told = _cache(tmp_path)

    folder = cache.provide("thing", "recipe", _make)
    cache.provide("thing", "recipe", lambda _: pytest.fail("made twice"))

    assert (folder / "thing").read_text() == "made"
    assert [line.partition(" ")[0] for line in told] == ["thing:", "thing:"]


def test_changed_recipe_makes_it_anew(tmp_path: Path) -> None:
    cache, _ = _cache(tmp_path)
    (cache.provide("thing", "old", _make) / "leftover").touch()

    folder = cache.provide("thing", "new", _make)

    assert not (folder / "leftover").exists()


def test_half_made_thing_is_made_anew(tmp_path: Path) -> None:
    cache, _ = _cache(tmp_path)

    def break_down(folder: Path) -> None:
        (folder / "leftover").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cache.provide("thing", "recipe", break_down)
    folder = cache.provide("thing", "recipe", _make)

    assert (folder / "thing").is_file()
    assert not (folder / "leftover").exists()


@pytest.mark.parametrize("stamp", [b"", b"[]", b"\xff"], ids=["empty", "array", "binary"])
def test_damaged_stamp_counts_as_none(tmp_path: Path, stamp: bytes) -> None:
    cache, _ = _cache(tmp_path)
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / ".made.json").write_bytes(stamp)

    folder = cache.provide("thing", "recipe", _make)

    assert json.loads((folder / ".made.json").read_bytes())["recipe"] == "recipe"


def test_second_run_waits_for_the_first_and_makes_nothing(tmp_path: Path) -> None:
    cache, told = _cache(tmp_path)
    making, waits = threading.Event(), threading.Event()
    second = Cache(tmp_path, lambda _: waits.set())

    def make_slowly(folder: Path) -> None:
        making.set()
        assert waits.wait(10)
        _make(folder)

    first = threading.Thread(target=cache.provide, args=("thing", "recipe", make_slowly))
    first.start()
    assert making.wait(10)
    second.provide("thing", "recipe", lambda _: pytest.fail("made twice"))
    first.join()

    assert len(told) == 2


def test_digest_depends_on_where_parts_end() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab", "c") == digest("ab", b"c")
