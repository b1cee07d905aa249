import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.schema_formats import TextFormat, conforms

GOOD = {
    TextFormat.DATE: ["2024-02-29"],
    TextFormat.TIME: [
        "08:30:06Z",
        "08:30:06.283+20:00",
        "08:30:06z",
        "23:59:60Z",
        "15:59:60-08:00",
    ],
    TextFormat.DATE_TIME: ["1963-06-19T08:30:06.283185Z", "1963-06-19t08:30:06-08:00"],
    TextFormat.EMAIL: ["a@example.org"],
    TextFormat.IPV4: ["127.0.0.1"],
    TextFormat.IPV6: ["::1"],
    TextFormat.UUID: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
}
BAD = {
    TextFormat.DATE: ["2023-02-29", "20240229", "2024-W09-4", "today", ""],
    TextFormat.TIME: [
        "08:30:06",
        "24:00:00Z",
        "08:30Z",
        "08:30:60Z",
        "22:59:60Z",
        "08:30:06+24:00",
    ],
    TextFormat.DATE_TIME: [
        "1963-06-19 08:30:06Z",
        "1963-02-29T08:30:06Z",
        "1963-06-19",
        "1963-W25-3T08:30:06Z",
        "1963W25",
        "19630619",
        "1963-06-1\u0969T08:30:06Z",
        "",
    ],
    TextFormat.EMAIL: ["nobody"],
    TextFormat.IPV4: ["256.0.0.1", "127.1"],
    TextFormat.IPV6: ["12345::", "::1%eth0"],
    TextFormat.UUID: ["2eb8aa08aa9811eab4aa73b441d16380", "no"],
}


@pytest.mark.parametrize(
    ("text_format", "text"),
    [
        pytest.param(text_format, text, id=f"{text_format}-{text}")
        for text_format, texts in GOOD.items()
        for text in texts
    ],
)
def test_text_of_a_format_conforms(text_format: TextFormat, text: str) -> None:
    assert conforms(text, text_format)


@pytest.mark.parametrize(
    ("text_format", "text"),
    [
        pytest.param(text_format, text, id=f"{text_format}-{text!a}")
        for text_format, texts in BAD.items()
        for text in texts
    ],
)
def test_other_text_does_not_conform(text_format: TextFormat, text: str) -> None:
    assert not conforms(text, text_format)


def test_every_format_has_texts_of_both_kinds() -> None:
    assert GOOD.keys() == BAD.keys() == set(TextFormat)


@given(st.sampled_from(TextFormat), st.text(alphabet="0123456789-:.TZW+@/% \u0661", max_size=24))
def test_any_text_is_decided(text_format: TextFormat, text: str) -> None:
    assert conforms(text, text_format) in (True, False)
