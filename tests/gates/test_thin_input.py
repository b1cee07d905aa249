import pytest

from proxy.gates.abstention import Abstention
from proxy.gates.evidence.sources import Origin, Source, Sources
from proxy.gates.thin_input import ThinRule, is_needless, substance

RULE = ThinRule(always_below=12, below=60)
ABSTENTION = Abstention()
FAR = "Wiese Feld Wald Berg Fluss See Hügel Strand Meer Insel " * 5
NOTE = "Notiz: Termin mit Lieferant verschoben."
ORDER = "Schreibe eine Zusammenfassung mit Terminen, Budget und Risiken."
RICH = (
    "Die Stadtwerke eröffnen am Montag eine neue Buslinie vom Bahnhof ins Tal. Die Linie 12 fährt "
    "werktags alle zehn Minuten und am Wochenende jede halbe Stunde. Der Bau der neun Haltestellen "
    "kostete 3,4 Millionen Franken; den grössten Teil trägt der Kanton. Fahrgäste können ihre "
    "Fahrräder im hinteren Teil der Busse mitnehmen. Verkehrsdirektorin Anna Brunner rechnet mit "
    "2000 Fahrgästen täglich. Die alte Linie 7 wird eingestellt, ihre Fahrzeuge gehen weg. "
    "Anwohner hatten Lärm befürchtet, deshalb setzt der Betreiber Elektrobusse eines Herstellers "
    "aus Schweden ein. Die Batterien halten 240 Kilometer. Geladen wird nachts im Depot an der "
    "Seestrasse, wo eine Anlage auf dem Dach einen Drittel des Stroms liefert."
)


def _sources(text: str, question: str = ORDER) -> Sources:
    return Sources((Source(text, Origin.TAG, "messages[0].content"),), question, question)


def _overconfident(answer: str, source: str, question: str = ORDER) -> bool | None:
    return RULE.is_overconfident(ABSTENTION.read(answer), _sources(source, question))


def _needless(answer: str, question: str, source: str = RICH) -> bool:
    return is_needless(ABSTENTION.read(answer), answer, _sources(source, question))


@pytest.mark.parametrize(
    ("answer", "is_overconfident"),
    [
        pytest.param("Der Termin mit dem Lieferanten wurde verschoben.", False, id="borne"),
        pytest.param(
            "Das Projekt liegt im Plan. Das grösste Risiko ist die Verfügbarkeit der Sensoren.",
            True,
            id="invented",
        ),
        pytest.param("Der Termin mit dem Lieferanten ist am 12. Mai.", True, id="invented-date"),
        pytest.param("Verschoben, leider.", False, id="too-short-to-judge"),
        pytest.param(
            "Der Termin mit dem Lieferanten wurde verschoben. "
            "Zu Budget und Risiken enthält die Notiz keine Angaben.",
            False,
            id="says-what-is-missing",
        ),
        pytest.param("Zu alledem steht da nirgends ein Wort.", False, id="denies-in-other-words"),
        pytest.param(
            "Dazu enthält die Notiz keine Angaben. Das Projekt liegt aber gut im Plan, Sensoren "
            "und Software werden rechtzeitig fertig, und die Kundschaft freut sich sehr.",
            True,
            id="abstains-and-invents",
        ),
        pytest.param(
            "The meeting with the supplier, an important partner for sensors in northern Italy, "
            "was cancelled and the project stays within budget.",
            True,
            id="other-language",
        ),
        pytest.param("The meeting with the supplier was moved.", False, id="translated"),
    ],
)
def test_answer_to_a_thin_source(answer: str, is_overconfident: bool) -> None:
    assert _overconfident(answer, NOTE) is is_overconfident


@pytest.mark.parametrize("source", ["", " \f Anlage 5 \f ", "\u200b\u200b"])
def test_source_that_says_nothing_bears_no_answer(source: str) -> None:
    answer = "Das Dokument beschreibt die Vorteile der Fernarbeit und ihre geringeren Kosten."

    assert _overconfident(answer, source) is True


def test_rich_source_is_not_thin() -> None:
    assert _overconfident("Ganz andere Dinge geschehen in Lappland.", RICH) is None


def test_source_is_thin_for_an_answer_that_says_more() -> None:
    source = (
        "Die Stadtwerke eröffnen am Montag eine neue Buslinie vom Bahnhof ins Tal. Sie fährt "
        "werktags alle zehn Minuten und hält neunmal."
    )

    short = _overconfident("Am Montag eröffnet eine neue Buslinie ins Tal.", source)
    long = _overconfident(
        "Am Montag eröffnet eine neue Buslinie ins Tal. Fahrgäste loben bequeme Sitze, grosse "
        "Fenster, freundliche Fahrer, kurze Wege, günstige Billette, saubere Haltestellen und "
        "schnelle Verbindungen nach Italien, Österreich sowie Frankreich.",
        source,
    )

    assert (short, long) == (None, True)


def test_what_was_asked_is_no_claim_of_the_answer() -> None:
    question = "Was kostet der Umbau des Schulhauses Lindenhof mit Turnhalle und Mensa?"

    assert _overconfident("Der Umbau des Schulhauses Lindenhof mit Mensa.", NOTE, question) is False


@pytest.mark.parametrize(
    ("answer", "question", "is_needless"),
    [
        pytest.param("Dazu enthält die Quelle keine Angaben.", ORDER[:29], True, id="order"),
        pytest.param(
            "Das geht aus der Quelle nicht hervor.",
            "Wie viel kostete der Bau der Haltestellen?",
            True,
            id="answerable",
        ),
        pytest.param(
            "Das geht aus der Quelle nicht hervor.",
            "Welche Farbe haben die Sitze der Züge in Portugal?",
            False,
            id="not-in-the-source",
        ),
        pytest.param(
            "Das geht aus der Quelle nicht hervor.",
            "How much did the new stops cost the canton?",
            False,
            id="question-in-another-language",
        ),
        pytest.param(
            "Die Linie 12 fährt werktags alle zehn Minuten. Zum Preis gibt es keine Angaben.",
            "Wann fährt die neue Linie?",
            False,
            id="answers-most-of-it",
        ),
        pytest.param(
            "Zum Preis gibt es keine Angaben. Batterien, Depot, Dach, Strom, Anlage und Busse sind "
            "dagegen bekannt.",
            ORDER[:29],
            False,
            id="goes-on",
        ),
        pytest.param(
            "Anwohner hatten vor den Elektrobussen aus Schweden keinen Hinweis auf Lärm.",
            ORDER[:29],
            False,
            id="reports-a-denial",
        ),
        pytest.param("Die Linie 12 fährt ab Montag.", ORDER[:29], False, id="does-not-abstain"),
    ],
)
def test_abstaining_from_a_rich_source(answer: str, question: str, is_needless: bool) -> None:
    assert _needless(answer, question) is is_needless


@pytest.mark.parametrize(("between", "is_needless"), [("Baum ", True), (f"{FAR} ", False)])
def test_words_of_the_question_must_stand_together(between: str, is_needless: bool) -> None:
    source = f"{RICH} Lindenhof Lindenhof {between}Turnhalle {between}Mensa."
    question = "Lindenhof, Turnhalle, Mensa?"

    assert _needless("Das geht aus der Quelle nicht hervor.", question, source) is is_needless


def test_substance_is_distinct_stems_and_numbers() -> None:
    found = substance("Die Busse und der Bus: 12 Busse, 1'200 Plätze, 1200 Platz.", "de")

    assert found.numbers == {"12", "1200"}
    assert {"bus", "platz"} & found.stems
    assert "und" not in found.stems


def test_reading_stops_where_there_is_enough() -> None:
    long = " ".join(f"Wort{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}" for n in range(400_000))

    assert 60 <= len(substance(long, "de", enough=60)) < 700
