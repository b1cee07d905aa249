import pytest

from proxy.demo.imitation.answer import Answer
from proxy.demo.imitation.contract import Length, Unit, read_contract
from proxy.demo.imitation.damage import damaged
from proxy.demo.imitation.faults import MadeFault
from tests.fakes.imitation import chance

SOURCE = "The lock is 110 metres long. It was opened in 1987. Boats wait. A pump brings water back."


def test_lengths_are_read_by_the_name_of_the_text() -> None:
    contract = read_contract(
        "Write a title of 20 to 70 characters, einen teaser von 80 bis 90 Zeichen, "
        "a text of 40 words."
    )

    assert contract.lengths == {
        "title": Length(20, 70, Unit.CHARACTERS),
        "teaser": Length(80, 90, Unit.CHARACTERS),
        "text": Length(40, 40, Unit.WORDS),
    }


def test_text_keeps_its_length() -> None:
    contract = read_contract("A title of 20 to 70 characters and a text of 40 to 60 words.")

    assert 20 <= len(contract.text("title", chance(1))) <= 70
    assert 40 <= len(contract.text("text", chance(1)).split()) <= 70


def test_text_from_a_source_is_the_source_s_own() -> None:
    contract = read_contract(f"A teaser of 20 to 60 characters. <quelle>{SOURCE}</quelle>")

    assert contract.source == SOURCE
    assert contract.text("teaser", chance(1)) in SOURCE


def test_without_a_contract_the_length_is_anybody_s_guess() -> None:
    lengths = {len(read_contract("Hello").text("text", chance(seed))) for seed in range(9)}

    assert len(lengths) > 1


@pytest.mark.parametrize("text", ["x", "<source>", "of 1", "1", "a. ", " ", "<source>x</quelle>"])
def test_hostile_prompt_is_read_like_any_other(text: str) -> None:
    question = text * (60_000 // len(text))

    contract = read_contract(f"<source>{question}</source>")

    assert damaged(Answer(contract.text("text", chance())), MadeFault.UNSUPPORTED_NUMBER).content
