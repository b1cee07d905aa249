import pytest

from tests.engines.steering.client import Landing
from tests.engines.steering.steer import Text, Watched, wrong_places

PROMPT = (1, 2, 3)
TOKENS = (10, 11, 12, 11, 13)
END = 99


def _landing(end: int, wrong: frozenset[int]) -> str:
    """What vLLM makes of drafts, right but for the wrong ones, with one draft a step."""
    place = 1
    while True:
        if place in wrong:
            landed = {place: Landing.TARGET}
        else:
            landed = {place: Landing.DRAFT, place + 1: Landing.BONUS}
        if end in landed:
            return landed[end]
        place += len(landed)


@pytest.mark.parametrize("land", list(Landing))
@pytest.mark.parametrize("end", range(2, 8))
def test_token_lands_as_asked_wherever_it_stands(end: int, land: Landing) -> None:
    assert _landing(end, wrong_places(end, land)) == land


def test_text_is_followed_from_the_prompt_on() -> None:
    text = Text(PROMPT, TOKENS, frozenset())

    written = list(PROMPT)
    for _ in TOKENS:
        scores = text.scores(written)
        written.append(max(scores, key=lambda token: scores[token]))

    assert tuple(written) == (*PROMPT, *TOKENS)


def test_text_goes_on_after_what_was_written_last_when_a_token_came_twice() -> None:
    text = Text(PROMPT, TOKENS, frozenset())

    assert text.draft([*PROMPT, 10, 11, 12, 12]) == 11


def test_every_token_of_the_text_is_a_second_choice() -> None:
    scores = Text(PROMPT, TOKENS, frozenset()).scores([*PROMPT, 10])

    assert set(scores) == set(TOKENS)
    assert sorted(scores.values())[-2] < scores[11]


def test_draft_is_another_token_at_a_wrong_place() -> None:
    text = Text(PROMPT, TOKENS, frozenset({1}))

    assert text.draft(PROMPT) == 10
    assert text.draft([*PROMPT, 10]) == 12


@pytest.mark.parametrize(
    ("steps", "landing"),
    [
        ([[5], [END, 6]], Landing.DRAFT),
        ([[5], [6, END]], Landing.BONUS),
        ([[5], [END]], Landing.TARGET),
        ([[5], [6, 7]], None),
        ([], None),
    ],
    ids=["accepted draft", "after an accepted draft", "no draft", "not written", "no step yet"],
)
def test_landing_is_read_from_what_each_step_brought(
    steps: list[list[int]], landing: Landing | None
) -> None:
    assert Watched(thinking=True, text=None, steps=steps).landing(END) == landing
