"""A request is read once, and what Python clients send is read as vLLM reads it."""

import pytest

from proxy.wire.request import MalformedBody, Request, read_request

LONE = rb'"user":"\ud83d"'


def test_empty_object_has_the_defaults() -> None:
    assert read_request(b"{}") == Request(body=b"{}")


@pytest.mark.parametrize(
    "extra",
    [pytest.param(b'"user":"x"', id="fast reader"), pytest.param(LONE, id="lone surrogate")],
)
def test_members_are_read(extra: bytes) -> None:
    body = (
        b'{"model":"m","stream":true,"n":2,"seed":7,"temperature":0.5,'
        b'"stream_options":{"include_usage":true},"response_format":{"type": "json_object"},'
        b'"structured_outputs":{"json":1.0e+2},"chat_template_kwargs":{},'
        b'"reasoning_effort":"low","messages":[ 1e400 ],"tools":[{}],'
        b'"tool_choice":"none","max_tokens":9,"max_completion_tokens":8,' + extra + b"}"
    )

    request = read_request(body)

    assert request == Request(
        body=body,
        model="m",
        stream=True,
        n=2,
        seed=7,
        temperature=0.5,
        include_usage=True,
        has_stream_options=True,
        response_format=b'{"type": "json_object"}',
        structured_outputs=b'{"json":1.0e+2}',
        chat_template_kwargs=b"{}",
        reasoning_effort=b'"low"',
        messages=b"[ 1e400 ]",
        tools=b"[{}]",
        tool_choice=b'"none"',
        max_tokens=b"9",
        max_completion_tokens=b"8",
    )


@pytest.mark.parametrize("extra", [b'"user":"x"', LONE], ids=["fast reader", "lone surrogate"])
@pytest.mark.parametrize(
    "name",
    [
        "model", "stream", "n", "seed", "temperature", "stream_options", "response_format",
        "structured_outputs", "chat_template_kwargs", "reasoning_effort", "messages", "tools",
        "tool_choice", "max_tokens", "max_completion_tokens",
    ],
)  # fmt: skip
def test_null_member_reads_as_absent(name: str, extra: bytes) -> None:
    body = b'{"' + name.encode() + b'":null,' + extra + b"}"

    assert read_request(body) == Request(body=body)


def test_stream_options_may_say_nothing_of_usage() -> None:
    request = read_request(b'{"stream_options":{}}')

    assert (request.has_stream_options, request.include_usage) == (True, None)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"model":"a","model":"b"}', id="fast reader"),
        pytest.param(b'{"model":"a","model":"b",' + LONE + b"}", id="lone surrogate"),
        pytest.param(rb'{"model":"a","mod\u0065l":"b"}', id="escaped name"),
    ],
)
def test_last_of_duplicate_members_wins(body: bytes) -> None:
    assert read_request(body).model == "b"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(rb'{"messages":[{"content":"\ud83d"}],"model":"m"}', id="high"),
        pytest.param(rb'{"messages":[{"content":"\udc00"}],"model":"m"}', id="low"),
        pytest.param(rb'{"messages":[{"content":"\ud83d\u0041"}],"model":"m"}', id="unpaired"),
        pytest.param(rb'{"\ud83d":1,"model":"m"}', id="in a name"),
        pytest.param(rb'{"stream_options":{"\ud83d":1},"model":"m"}', id="in a read member"),
    ],
)
def test_lone_surrogate_is_no_fault(body: bytes) -> None:
    request = read_request(body)

    assert (request.body, request.model) == (body, "m")


def test_lone_surrogate_in_the_model_is_replaced() -> None:
    assert read_request(rb'{"model":"m\ud83d"}').model == "m?"


def test_raw_members_keep_their_bytes_beside_a_lone_surrogate() -> None:
    body = b'{"tools": [1.0e+2, %s], "user": "\\ud800"}' % (b"9" * 5000)

    assert read_request(body).tools == b"[1.0e+2, %s]" % (b"9" * 5000)


def test_byte_order_mark_is_dropped() -> None:
    request = read_request(b'\xef\xbb\xbf{"model":"m"}')

    assert request == Request(body=b'{"model":"m"}', model="m")


def test_text_beyond_ascii_is_read() -> None:
    assert read_request('{"model":"größe"}'.encode()).model == "größe"


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        pytest.param(b'{"n":2.0}', Request(body=b'{"n":2.0}', n=2), id="integral float"),
        pytest.param(b'{"n":"2"}', Request(body=b'{"n":"2"}', n=2), id="number in a string"),
        pytest.param(b'{"n":0}', Request(body=b'{"n":0}', n=0), id="zero stays zero"),
        pytest.param(
            b'{"stream":"true"}', Request(body=b'{"stream":"true"}', stream=True), id="boolean text"
        ),
        pytest.param(
            b'{"temperature":1}', Request(body=b'{"temperature":1}', temperature=1.0), id="integer"
        ),
        pytest.param(
            b'{"seed":98765432109876543210}',
            Request(body=b'{"seed":98765432109876543210}', seed=98765432109876543210),
            id="beyond 64 bits",
        ),
    ],
)
def test_number_is_read_as_vllm_reads_it(body: bytes, request_: Request) -> None:
    assert read_request(body) == request_


@pytest.mark.parametrize("extra", [b'"user":"x"', LONE], ids=["fast reader", "lone surrogate"])
@pytest.mark.parametrize(
    ("member", "param"),
    [
        pytest.param(b'"model":1', "model", id="model"),
        pytest.param(b'"stream":"maybe"', "stream", id="stream"),
        pytest.param(b'"n":1.5', "n", id="n is no integer"),
        pytest.param(b'"n":true', "n", id="n is a boolean"),
        pytest.param(b'"seed":"x"', "seed", id="seed"),
        pytest.param(b'"temperature":[]', "temperature", id="temperature"),
        pytest.param(b'"stream_options":1', "stream_options", id="stream_options"),
        pytest.param(
            b'"stream_options":{"include_usage":7}', "stream_options.include_usage", id="inner"
        ),
    ],
)
def test_wrong_type_names_the_member(member: bytes, param: str, extra: bytes) -> None:
    with pytest.raises(MalformedBody, match="Expected") as caught:
        read_request(b"{" + extra + b"," + member + b"}")

    assert caught.value.param == param


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b" \r\n", "empty", id="blank"),
        pytest.param(b"\xef\xbb\xbf", "empty", id="byte order mark alone"),
        pytest.param(b"[]", "must be a JSON object", id="array"),
        pytest.param(b"null", "must be a JSON object", id="null"),
        pytest.param(rb'"\ud83d"', "Expecting an object", id="string"),
        pytest.param(b'{"model":"m"', "at line 1 column 13", id="unclosed"),
        pytest.param(b'{"model":"m"} {}', "Extra data", id="two documents"),
        pytest.param(b'{"a":1,}', "Expecting a member name", id="comma before the end"),
        pytest.param(b'{"a":NaN}', "NaN is not a JSON value", id="NaN"),
        pytest.param(b'{"a":-Infinity}', "-Infinity is not a JSON value", id="infinity"),
        pytest.param(b'{"a":"x\ny"}', "control character", id="raw control character"),
        pytest.param(b'{"a":' + b"[" * 200_000, "too deeply", id="deep"),
        pytest.param(b'{"u":"\\ud83d","a":' + b"[" * 200_000, "too deeply", id="deep, surrogate"),
        pytest.param(b'{%s,"n":%s}' % (LONE, b"9" * 5000), "4300 digits", id="too many digits"),
        pytest.param(b'{"model":"\xff"}', "not UTF-8.*byte 10", id="not UTF-8"),
        pytest.param(b'{"other":"\xff"}', "not UTF-8.*byte 10", id="not UTF-8 in an unread member"),
        pytest.param(b'{"a":"\xed\xa0\x80"}', "not UTF-8", id="raw surrogate"),
        pytest.param("{}".encode("utf-16-le"), "not JSON", id="UTF-16"),
    ],
)
def test_what_is_no_object_in_utf8_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(MalformedBody, match=message) as caught:
        read_request(body)

    assert caught.value.param == ""


@pytest.mark.parametrize(
    ("members", "limit"),
    [
        pytest.param(b"", None, id="none"),
        pytest.param(b'"max_tokens":9', 9, id="max_tokens"),
        pytest.param(b'"max_tokens":9,"max_completion_tokens":8', 8, id="both"),
        pytest.param(b'"max_tokens":"9"', 9, id="written as a string"),
        pytest.param(b'"max_tokens":-1', None, id="negative"),
        pytest.param(b'"max_tokens":[9]', None, id="list"),
        pytest.param(b'"max_tokens":' + b"9" * 5000, None, id="beyond meaning"),
    ],
)
def test_token_limit_is_what_the_client_allows(members: bytes, limit: int | None) -> None:
    assert read_request(b"{" + members + b"}").token_limit == limit


def test_slowly_read_body_of_too_many_members_is_refused() -> None:
    body = b"{" + LONE + b',"a":1' * 10_000 + b"}"

    with pytest.raises(MalformedBody, match=r"The body has more than 10,000 members\."):
        read_request(body)
