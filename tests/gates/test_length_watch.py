from typing import Any

import pytest

from proxy.errors import Fault
from proxy.gates.base import Verdict
from proxy.gates.length_options import LengthOptions
from proxy.gates.length_watch import LengthWatch, watched_limits
from proxy.gates.text_units import TextMeter

METER = TextMeter()


def _watch(strip: str = "none", **limits: Any) -> LengthWatch:
    target = {"of": "text", "unit": "graphemes", **limits}
    options = LengthOptions.model_validate({"strip": strip, "targets": [target]})
    return LengthWatch(watched_limits(options, METER), options.strip)


def _fed(watch: LengthWatch, text: str) -> tuple[int, Verdict | None]:
    """How many characters were fed when the watch cut, one by one."""
    for position, character in enumerate(text, 1):
        if verdict := watch.feed(0, character):
            return position, verdict
    return len(text), None


def test_text_is_cut_at_the_first_character_too_many() -> None:
    position, verdict = _fed(_watch(max=5), "abcdefgh")

    assert position == 6
    assert verdict is not None
    assert verdict.fault is Fault.TOO_LONG
    assert verdict.place == "choices[0].message.content"


def test_text_within_its_maximum_is_never_cut() -> None:
    assert _fed(_watch(max=5), " abcde  \n")[1] is None


def test_marks_and_joined_emoji_are_not_counted_apart() -> None:
    assert _fed(_watch(max=2), "e\u0301\U0001f469\u200d\U0001f467\u200d\U0001f466")[1] is None


def test_markup_that_will_not_count_cuts_nothing() -> None:
    link = "**Kurz** [Wort](https://example.org/ein/langer/weg) da"

    assert _fed(_watch("markdown", max=14), link)[1] is None
    assert _fed(_watch("html", max=14), "<p class='sehr-lang'>Kurz <b>Wort</b></p>")[1] is None


@pytest.mark.parametrize("strip", ["markdown", "html"])
def test_marked_up_text_is_cut_where_what_is_left_is_too_long(strip: str) -> None:
    _, verdict = _fed(_watch(strip, max=14), "Das ist *sehr* viel länger als erlaubt ist. ")

    assert verdict is not None


def test_every_choice_is_watched_for_itself() -> None:
    watch = _watch(max=5)

    assert watch.feed(0, "abcd") is None
    assert watch.feed(1, "abcd") is None
    verdict = watch.feed(1, "efg")
    assert verdict is not None
    assert verdict.place == "choices[1].message.content"


def test_words_are_cut_by_their_own_maximum() -> None:
    assert _fed(_watch(unit="words", max=2), "eins zwei - drei")[0] == len("eins zwei - d")


@pytest.mark.parametrize(
    "target",
    [
        {"of": "$.a", "unit": "words", "max": 3},
        {"of": "text", "unit": "words", "min": 3},
        {"of": "text", "unit": "sentences", "max": 3},
        {"of": "text", "unit": "tokens", "max": 3},
    ],
    ids=["field", "minimum", "sentences", "tokens"],
)
def test_other_limits_are_known_at_the_end_only(target: dict[str, Any]) -> None:
    assert watched_limits(LengthOptions.model_validate({"targets": [target]}), METER) == ()
