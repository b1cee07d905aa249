import pytest

from proxy.nearest import did_you_mean, nearest

KNOWN = ("--max-model-len", "--max-num-seqs", "FLASHINFER")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        pytest.param("--max-model-length", "--max-model-len", id="longer"),
        pytest.param("--max-num-seq", "--max-num-seqs", id="shorter"),
        pytest.param("flashinfr", "FLASHINFER", id="other case"),
        pytest.param("--zzz", None, id="nothing near"),
        pytest.param("--max-model-len" * 10, None, id="longer than any word"),
    ],
)
def test_nearest_known_word_is_found(word: str, found: str | None) -> None:
    assert nearest(word, KNOWN) == found


def test_remedy_falls_back_to_another_where_nothing_is_near() -> None:
    assert did_you_mean("--zzz", KNOWN, "remove it") == "remove it"
    assert did_you_mean("--max-num-seq", KNOWN, "remove it") == "did you mean `--max-num-seqs`?"


def test_cutoff_asks_for_more_likeness() -> None:
    assert nearest("--max-model", KNOWN) == "--max-model-len"
    assert nearest("--max-model", KNOWN, 0.9) is None
