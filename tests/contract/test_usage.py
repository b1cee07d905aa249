import json

import pytest

from proxy.contract.usage import lacks_usage, with_usage
from proxy.errors import InvalidRequest
from proxy.telemetry.outcome import Endpoint
from proxy.wire.request import Request, read_request


@pytest.mark.parametrize(
    ("body", "endpoint", "lacks"),
    [
        (b'{"stream":true}', Endpoint.CHAT, True),
        (b'{"stream":true}', Endpoint.COMPLETIONS, True),
        (b'{"stream":true}', Endpoint.RESPONSES, False),
        (b'{"stream":false}', Endpoint.CHAT, False),
        (b'{"stream":true,"stream_options":{"include_usage":true}}', Endpoint.CHAT, False),
        (b'{"stream":true,"stream_options":{"include_usage":false}}', Endpoint.CHAT, True),
    ],
)
def test_usage_is_missing_from_streams_of_clients_that_did_not_ask(
    body: bytes, endpoint: Endpoint, lacks: bool
) -> None:
    assert lacks_usage(read_request(body), endpoint) is lacks


@pytest.mark.parametrize(
    "body",
    [
        b'{"stream":true}',
        b' {"stream" : true } \n',
        b'{"stream":true,"stream_options":null}',
        b'{"stream":true,"stream_options":{}}',
        b'\xef\xbb\xbf{"stream":true}',
    ],
    ids=["plain", "spaces", "null", "empty", "bom"],
)
def test_body_asks_for_usage_afterwards(body: bytes) -> None:
    asked = json.loads(with_usage(read_request(body)))

    assert asked == {"stream": True, "stream_options": {"include_usage": True}}


def test_every_other_byte_and_option_survives() -> None:
    body = b'{"a": 1.0e2,"stream":true,"stream_options":{"continuous_usage_stats":true}}'

    changed = with_usage(read_request(body))

    assert changed.startswith(b'{"a": 1.0e2,"stream":true,')
    assert json.loads(changed)["stream_options"] == {
        "continuous_usage_stats": True,
        "include_usage": True,
    }


def test_spelling_of_the_other_stream_options_survives() -> None:
    body = b'{"stream":true,"stream_options":{"a": 1.0e2, "include_usage": false}}'

    changed = with_usage(read_request(body))

    assert changed == b'{"stream":true,"stream_options":{"a": 1.0e2, "include_usage": true}}'


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        pytest.param(b',"a":1' * 10_000, r"The body has too many members\.", id="members"),
        pytest.param(b',"a":' + b"[" * 100_000, "nested too deeply", id="depth"),
    ],
)
def test_body_that_cannot_be_changed_is_the_clients_fault(rest: bytes, message: str) -> None:
    body = b'{"stream_options":{}' + rest + b"}"

    with pytest.raises(InvalidRequest, match=message):
        with_usage(Request(body, stream=True, has_stream_options=True))
