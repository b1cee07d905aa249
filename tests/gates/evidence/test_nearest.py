from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.source_index import SourceIndex

SOURCE = "Die Kartoffeln kochen zehn Minuten. Der Rahm kommt dazu. Die Hörnli beigeben."


def test_sentence_that_shares_most_is_nearest() -> None:
    nearest = NearestSentences(SourceIndex(SOURCE), "Kartoffel und Rahm kochen.")

    (span,) = nearest.spans("Kartoffel kochen")

    assert span.of(SOURCE).startswith("Die Kartoffeln")


def test_rare_words_count_more_and_unknown_ones_nothing() -> None:
    source = "Der Rahm ist da. Der Rahm ist weg. Die Hörnli sind da."
    nearest = NearestSentences(SourceIndex(source), "Rahm Hörnli Zwiebel")

    assert nearest.numbers(["Rahm", "Hörnli", "Zwiebel"], 3) == [2, 0, 1]
    assert nearest.numbers(["Zwiebel"]) == []


def test_words_of_very_many_sentences_are_not_followed() -> None:
    nearest = NearestSentences(SourceIndex("Rahm ist da.\n" * 500), "Rahm")

    assert nearest.numbers(["Rahm"]) == []


def test_word_that_was_cut_has_no_stem() -> None:
    nearest = NearestSentences(SourceIndex(SOURCE), "Kartoffel")

    assert nearest.stems_of(["Kartof"]) == {""}
