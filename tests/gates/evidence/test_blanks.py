from proxy.gates.evidence.blanks import blanked
from proxy.gates.evidence.findings import Span


def test_parts_become_blanks_and_the_rest_keeps_its_place() -> None:
    assert blanked("one two three", [Span(0, 3), Span(8, 13)]) == "    two      "
    assert blanked("one", []) == "one"
