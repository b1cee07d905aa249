import pytest

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.code_claims import code_findings, quotation_findings
from proxy.gates.evidence.findings import Support
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.source_index import SourceIndex

SOURCE = (
    "LX 317 leaves gate B38. Release 4.2.1 is at https://example.org/dl/4.2.1. «No risk at all.»"
)


@pytest.mark.parametrize(
    ("answer", "support"),
    [
        ("LX317", Support.EXACT),
        ("gate B38", Support.EXACT),
        ("gate B83", Support.MISSING),
        ("gate B3", Support.MISSING),
        ("LX 31", Support.MISSING),
        ("v4.2.1", Support.EXACT),
        ("Version 4.2", Support.EXACT),
        ("v4.2.11", Support.MISSING),
        ("v2.1", Support.MISSING),
        ("https://www.example.org/dl/4.2.1/", Support.EXACT),
        ("example.org", Support.EXACT),
        ("https://example.org/d", Support.MISSING),
        ("https://example.com", Support.MISSING),
    ],
)
def test_code_stands_in_the_source_or_is_missing(answer: str, support: Support) -> None:
    (found,) = code_findings(AnswerText(answer, []), SourceIndex(SOURCE), SourceIndex(""))

    assert found.support is support
    assert (found.nearest is not None) is (support is Support.EXACT)


def test_what_was_asked_about_is_no_claim() -> None:
    index, asked = SourceIndex(""), SourceIndex("Is «a b c d» in B38?")
    answer = AnswerText("B38: «a b c d»", [])

    assert list(code_findings(answer, index, asked)) == []
    assert list(quotation_findings(answer, index, asked, NearestSentences(index, ""))) == []


@pytest.mark.parametrize(
    ("answer", "support"),
    [("„No risk at all“", Support.EXACT), ("„No risk at any time“", Support.MISSING)],
)
def test_quotation_stands_in_the_source_or_is_missing(answer: str, support: Support) -> None:
    index = SourceIndex(SOURCE)
    nearest = NearestSentences(index, answer)

    (found,) = quotation_findings(AnswerText(answer, []), index, SourceIndex(""), nearest)

    assert found.support is support
    assert found.nearest is not None
