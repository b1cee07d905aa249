import pytest

from proxy.gates.abstention import Abstention

BUILT_IN = Abstention()
LONG = (
    "Nachdem der Rat den Plan abgelehnt hatte, weil das Geld nicht da war, wurde im Mai ein neuer "
    "Antrag mit anderem Inhalt gestellt und dann beschlossen."
)


@pytest.mark.parametrize(
    "answer",
    [
        "Dazu macht der Text keine Aussage.",
        "Das steht nicht in der Quelle.",
        "Leider fehlen im Text Angaben zum Preis.",
        "Aus den Unterlagen geht das nicht hervor.",
        "Das lässt sich anhand der Notiz nicht beantworten.",
        "Das kann ich so nicht sagen.",
        "Der Preis bleibt offen.",
        "Zum Starttermin schweigt die Quelle.",
        "Ich habe keinen Text erhalten.",
        "Bitte stellen Sie mir den Text zur Verfügung.",
        "Die Quelle reicht für diesen Text nicht aus.",
        "k. A.",
        "Unbekannt.",
        "The text doesn't mention that.",
        "The text doesn\u2019t mention that.",
        "There is no mention of the price in the source.",
        "I can't find this in the document.",
        "This is not covered by the source.",
        "The input is too short to summarise.",
        "I need more details to write this summary.",
        "I would have to guess.",
        "N/A",
        "Le texte ne le précise pas.",
        "La source ne donne aucune information à ce sujet.",
        "Il testo non lo specifica.",
        "Non ci sono informazioni sufficienti.",
    ],
)
def test_abstaining_is_recognised(answer: str) -> None:
    reading = BUILT_IN.read(answer)

    assert reading.abstains
    assert reading.rest == ""


@pytest.mark.parametrize(
    "answer",
    [
        "Ulm liegt an der Donau.",
        "Der Stadtrat lehnte den Plan ab.",
        "The new line runs every ten minutes.",
        "",
        LONG,
    ],
)
def test_plain_answers_do_not_abstain(answer: str) -> None:
    reading = BUILT_IN.read(answer)

    assert not reading.abstains
    assert reading.rest == answer


def test_what_else_an_answer_says_is_told_apart() -> None:
    reading = BUILT_IN.read("Der Termin wurde verschoben. Zum Budget enthält sie keine Angaben.")

    assert (reading.abstains, reading.rest) == (True, "Der Termin wurde verschoben.")


def test_denial_in_other_words_is_noted() -> None:
    reading = BUILT_IN.read("Zum Budget steht da nirgends etwas.")

    assert (reading.abstains, reading.denies) == (False, True)


def test_policy_adds_its_own_phrases() -> None:
    own = Abstention(["Keine Ahnung (leider)", "passt  so"])

    assert own.read("KEINE  AHNUNG (leider), Chef.").abstains
    assert own.read("Passt\nso").abstains is False
    assert not BUILT_IN.read("Keine Ahnung (leider), Chef.").abstains


def test_long_answer_is_read_in_linear_time() -> None:
    assert not BUILT_IN.read("kein " * 50_000).abstains
