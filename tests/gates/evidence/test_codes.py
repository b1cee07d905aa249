import pytest

from proxy.gates.evidence.codes import codes, url_form
from proxy.gates.evidence.findings import Kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LX 317 from B38", [("identifier", "LX 317"), ("identifier", "B38")]),
        ("v2.0.0 and 4.2.1-rc1.", [("version", "v2.0.0"), ("version", "4.2.1-rc1")]),
        ("Version 3.1 is out", [("version", "3.1")]),
        ("on 3.10.2024", []),
        ("see https://example.org/a(b)?c=1.", [("url", "https://example.org/a(b)?c=1")]),
        ("www.example.org, example.com/x", [("url", "www.example.org"), ("url", "example.com/x")]),
        ("mail a.b@example.org", [("identifier", "a.b@example.org")]),
        ("call open_session() or max_tokens", [
            ("identifier", "open_session()"),
            ("identifier", "max_tokens"),
        ]),
        ("+41 44 123 45 67", [("identifier", "+41 44 123 45 67")]),
        ("ISBN 978-3-16-148410-0", [("identifier", "978-3-16-148410-0")]),
        ("2024-10-05", []),
        ("1234567890123456", [("identifier", "1234567890123456")]),
        ("COVID-19 and GPT-4o", [("identifier", "COVID-19"), ("identifier", "GPT-4o")]),
        ("pre-2019, mid-1990s, 18th, 1990s, z.B. i.e.", []),
        ("plain words - and more_", []),
        ("CO2 and H2O, B2B", []),
    ],
)  # fmt: skip
def test_codes_are_found_with_their_kind(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.kind.value, one.text) for one in codes(text)] == expected


def test_form_is_the_same_for_all_ways_of_writing() -> None:
    forms = [one.form for one in codes("V2.0 is no v2.0; LX 317, LX317, LX-317")]

    assert forms == ["2.0", "2.0", "lx317", "lx317", "lx317"]


def test_address_has_no_scheme_and_no_slash_at_its_end() -> None:
    assert url_form("https://www.Example.org/Path/") == "example.org/Path"
    (code,) = codes("http://example.org/")
    assert (code.kind, code.form) == (Kind.URL, "example.org")
