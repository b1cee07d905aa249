import json
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.errors import InvalidRequest
from proxy.gates.evidence.sources import (
    MOST_CHARACTERS,
    Origin,
    Source,
    SourceOption,
    Sources,
    may_have_sources,
    sources_of,
)
from proxy.wire.request import Request

TAG = SourceOption(tag="quelle")
TOOL = SourceOption(role="tool")


def _request(*messages: Any) -> Request:
    return Request(b"", messages=json.dumps(messages).encode())


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _texts(content: Any, *options: SourceOption) -> list[str]:
    sources = sources_of(_request(_user(content)), options or (TAG,))
    return [source.text for source in sources.found]


def test_tagged_block_is_a_source_and_the_rest_was_asked() -> None:
    sources = sources_of(_request(_user("Fasse zusammen: <quelle>Ulm.</quelle> Kurz!")), (TAG,))

    assert sources.found == (Source("Ulm.", Origin.TAG, "messages[0].content", 24),)
    assert sources.asked == "Fasse zusammen:   Kurz!"


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        pytest.param("<quelle>a</quelle> und <quelle>b</quelle>", ["a", "b"], id="two"),
        pytest.param('<quelle id="1" titel="x">a</quelle >', ["a"], id="attributes"),
        pytest.param("<Quelle>a</QUELLE>", ["a"], id="capitals"),
        pytest.param("<quelle>a <quelle>b</quelle> c</quelle>", ["a <quelle>b"], id="nested"),
        pytest.param("<quelle></quelle>", [""], id="blank"),
        pytest.param("<quelle/> nichts", [], id="closed-in-itself"),
        pytest.param("<quellen>a</quellen> <quelle-2>b</quelle-2>", [], id="longer-names"),
        pytest.param("a</quelle>", [], id="never-opened"),
        pytest.param('<video><quelle src="a.mp4"></video>', [], id="html-of-its-own"),
        pytest.param('<quelle src="a.mp4"> <quelle>b</quelle>', ["b"], id="html-before-a-block"),
        pytest.param('<quelle src="a">b</quelle>', ["b"], id="attribute-src-and-closed"),
        pytest.param(
            "<quelle>Preis: 1\u200b2\u2060 €</quelle>", ["Preis: 1\u200b2\u2060 €"], id="zero"
        ),
        pytest.param("<quelle>\u202bמחר 12\u202c</quelle>", ["\u202bמחר 12\u202c"], id="rtl"),
        pytest.param("", [], id="empty"),
    ],
)
def test_blocks_of_a_tag(content: str, texts: list[str]) -> None:
    assert _texts(content) == texts


def test_tag_that_is_never_closed_is_refused_with_its_place() -> None:
    request = _request(_user("Hallo"), _user("Fasse zusammen: <quelle>Ulm liegt"))

    with pytest.raises(InvalidRequest) as caught:
        sources_of(request, (TAG,))

    assert caught.value.code == "source_not_closed"
    assert caught.value.param == "messages[1].content"
    assert caught.value.message == (
        "The source that begins with <quelle> at character 16 is never closed; "
        "write </quelle> after it."
    )


def test_parts_of_one_message_are_read_as_one_text() -> None:
    parts = [
        {"type": "text", "text": "<quelle>Seit 2023"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "5 Läden</quelle>"},
    ]

    assert _texts(parts) == ["Seit 2023\n5 Läden"]


def test_tool_results_are_sources_whole() -> None:
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    result = {"role": "tool", "tool_call_id": "1", "content": '{"wind_kmh": 31}'}
    old = {"role": "function", "name": "look", "content": "Ulm"}

    sources = sources_of(_request(_user("Wetter?"), call, result, old), (TAG, TOOL))

    assert [(each.text, each.origin, each.place) for each in sources.found] == [
        ('{"wind_kmh": 31}', Origin.ROLE, "messages[2].content"),
        ("Ulm", Origin.ROLE, "messages[3].content"),
    ]
    assert sources.asked == sources.question == "Wetter?"


def test_question_is_what_the_user_said_last() -> None:
    answer = {"role": "assistant", "content": "Ulm."}

    sources = sources_of(_request(_user("Wo?"), answer, _user("<quelle>a</quelle>Und?")), (TAG,))

    assert sources.question == " Und?"
    assert sources.asked == "Wo?\nUlm.\n Und?"


def test_what_the_model_or_a_tool_wrote_holds_no_tagged_source() -> None:
    block = "<quelle>erfunden</quelle>"
    messages = [{"role": "assistant", "content": block}, {"role": "tool", "content": block}]

    assert sources_of(_request(*messages), (TAG,)).found == ()


def test_role_beside_a_tag_says_where_to_look() -> None:
    option = SourceOption(tag="quelle", role="tool")
    result = {"role": "tool", "content": "Treffer: <quelle>a</quelle>"}

    found = sources_of(_request(_user("<quelle>b</quelle>"), result), (option,)).found

    assert [source.text for source in found] == ["a"]


def test_blocks_of_two_tags_keep_their_order_and_do_not_overlap() -> None:
    content = "<b>1</b> <quelle>2 <b>3</b></quelle> <b>4</b>"

    assert _texts(content, TAG, SourceOption(tag="b")) == ["1", "2 <b>3</b>", "4"]


def test_field_of_a_json_message_is_a_source() -> None:
    content = json.dumps({"frage": "Wo?", "material": "Ulm", "mehr": {"wind_kmh": 31}})
    options = SourceOption(field="$.material"), SourceOption(field="$.mehr")

    sources = sources_of(_request(_user(content)), options)

    assert [(each.text, each.origin, each.place) for each in sources.found] == [
        ("Ulm", Origin.FIELD, "messages[0].content#/material"),
        ('{"wind_kmh": 31}', Origin.FIELD, "messages[0].content#/mehr"),
    ]
    assert "Wo?" in sources.asked
    assert "Ulm" not in sources.asked
    assert "31" not in sources.asked


def test_fields_within_each_other_are_taken_once_each() -> None:
    content = json.dumps({"docs": [{"text": "a", "n": 1}, {"text": "b"}], "frage": "Wo?"})
    options = SourceOption(field="$.docs[*]"), SourceOption(field="$.docs[*].text")

    sources = sources_of(_request(_user(content)), options)

    assert [source.text for source in sources.found][2:] == ["a", "b"]
    assert sources.asked == '{"docs": [null, null], "frage": "Wo?"}'


@pytest.mark.parametrize("content", ["Wo?", '{"frage": ', "[" * 100_000, '{"frage": 1}'])
def test_message_without_the_field_was_asked(content: str) -> None:
    sources = sources_of(_request(_user(content)), (SourceOption(field="$.material"),))

    assert sources == Sources(asked=content, question=content)


def test_five_megabytes_of_source_are_refused() -> None:
    request = _request(_user(f"<quelle>{'Ulm. ' * 1_000_000}</quelle>"))

    with pytest.raises(InvalidRequest, match=f"more than {MOST_CHARACTERS} characters") as caught:
        sources_of(request, (TAG,))

    assert (caught.value.code, caught.value.param) == ("sources_too_large", "messages")


def test_many_openings_are_read_in_linear_time() -> None:
    content = '<quelle a="' * 150_000 + "<quelle>x</quelle>"

    assert _texts(content) == ["x"]


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        pytest.param("Hallo", (TAG,), False, id="no-tag"),
        pytest.param("Die Quelle fehlt.", (TAG,), False, id="the-word-alone"),
        pytest.param("<QUELLE>", (TAG,), True, id="tag"),
        pytest.param("Hallo", (TOOL,), False, id="no-tool"),
        pytest.param("Hallo", (SourceOption(role="user"),), True, id="role"),
        pytest.param("{}", (SourceOption(field="$.a"),), True, id="field"),
        pytest.param("Hallo", (), False, id="no-options"),
    ],
)
def test_requests_without_sources_are_told_quickly(
    content: str, options: tuple[SourceOption, ...], expected: bool
) -> None:
    assert may_have_sources(_request(_user(content)), options) is expected


def test_tag_that_json_spells_otherwise_is_no_less_one() -> None:
    escaped = rb'[{"role":"user","content":"\u003cqu\u0065lle>"}]'

    assert may_have_sources(Request(b"{}", messages=escaped), (TAG,))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        pytest.param({}, "names no source", id="nothing"),
        pytest.param({"tag": "a", "field": "$.b"}, "a tag and a field", id="tag-and-field"),
        pytest.param({"tag": "<a>"}, "is no name of a tag", id="brackets"),
        pytest.param({"role": "boss"}, "role", id="unknown-role"),
        pytest.param({"field": "material"}, "is no path: ", id="no-path"),
        pytest.param({"url": "http://example.org"}, "extra", id="never-fetched"),
    ],
)
def test_option_that_names_no_source_is_refused(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SourceOption.model_validate(option)


def test_all_sources_are_one_text_in_order() -> None:
    sources = sources_of(_request(_user("<quelle>a</quelle><quelle>b</quelle>")), (TAG,))

    assert sources.text == "a\n\nb"
