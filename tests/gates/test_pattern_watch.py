import pytest

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.pattern_watch import PatternWatch
from proxy.gates.wordings import AnyWording, Wording

NEVER = AnyWording([Wording(pattern=r"(?i)als Sprachmodell\b", reason="Es spricht über sich.")])
FOUND = Verdict("pattern", Result.FAIL, Fault.FORBIDDEN)
FILLING = "Das ist ein Satz ohne Tadel. " * 9


def _cut_at(text: str, size: int = 5, choice: int = 0) -> int | None:
    """After how many characters the stream is cut."""
    watch = PatternWatch(NEVER, lambda _, __: FOUND)
    for start in range(0, len(text), size):
        if watch.feed(choice, text[start : start + size]) is not None:
            return start + size
    return None


@pytest.mark.parametrize("size", [1, 3, 64, 5000])
def test_stream_is_cut_soon_after_the_wording(size: int) -> None:
    text = FILLING + "Als Sprachmodell kann ich das nicht. " + FILLING * 3

    cut = _cut_at(text, size)

    assert cut is not None
    assert cut <= len(FILLING) + 100 + size


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FILLING * 9, id="nothing-forbidden"),
        pytest.param(f"```\nals Sprachmodell x\n```\n{FILLING}", id="in-a-fence"),
        pytest.param(f"`als Sprachmodell x` {FILLING}", id="in-code"),
        pytest.param(f'{{"a": "als Sprachmodell x {FILLING}"}}', id="json"),
        pytest.param(f' \n["als Sprachmodell x {FILLING}"]', id="json-list"),
        pytest.param(FILLING * 200 + "als Sprachmodell x" + FILLING * 20, id="far-behind"),
        pytest.param("als Sprachmodell x", id="too-short-to-search"),
        pytest.param(FILLING + "als Sprachmodell", id="may-go-on"),
    ],
)
def test_stream_is_left_to_the_judgement(text: str) -> None:
    assert _cut_at(text) is None


def test_choices_are_watched_apart() -> None:
    watch = PatternWatch(NEVER, lambda _, __: FOUND)

    watch.feed(0, FILLING + "als Sprach")

    assert watch.feed(1, "modell ist es gut, und so weiter. " + FILLING) is None
    assert watch.feed(0, "modell ist es gut, und so weiter. " + FILLING) is FOUND


def test_gate_has_the_last_word() -> None:
    watch = PatternWatch(NEVER, lambda _, __: None)

    assert watch.feed(0, "als Sprachmodell x " + FILLING) is None
