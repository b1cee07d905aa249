import json
from typing import Any

import pytest
from typing_extensions import override

from proxy.errors import BadReply, TimedOut, Unreachable, UpstreamError
from proxy.upstream.litellm_failure import Refusal, read_failure

SECRET = "sk-1234 and the prompt"


class TransportError(Exception):
    """As httpx names it."""


class ConnectError(TransportError):
    """As httpx names it."""


class TimeoutException(TransportError):
    """As httpx names it."""


class ReadTimeout(TimeoutException):
    """As httpx names it."""


class HTTPStatusError(Exception):
    """As httpx names it."""


class _Response:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


class APIError(Exception):
    """As litellm names it."""

    def __init__(self, status_code: object, **members: object) -> None:
        super().__init__(SECRET)
        self.status_code = status_code
        for name, value in members.items():
            setattr(self, name, value)


class ContextWindowExceededError(APIError):
    """As litellm names it."""


class UnsupportedParamsError(APIError):
    """As litellm names it."""

    @override
    def __str__(self) -> str:
        return f"x does not support parameters: {{'seed': '{SECRET}', 'logit_bias': 1}}"


def _raised(error: Exception, cause: Exception | None = None) -> Exception:
    error.__cause__ = cause
    return error


def _refused(error: Exception) -> tuple[Refusal, dict[str, Any]]:
    refusal = read_failure(error, "main", ("messages", "seed", "logit_bias", "stop"))
    assert isinstance(refusal, Refusal)
    body: dict[str, Any] = json.loads(refusal.body)["error"]
    return refusal, body


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (ConnectError(), Unreachable),
        (ReadTimeout(), TimedOut),
        (TimeoutError(), TimedOut),
        (TransportError(), BadReply),
        (ValueError(), BadReply),
        (None, BadReply),
    ],
    ids=["connect", "read_timeout", "timeout", "broken_off", "not_json", "unknown"],
)
def test_status_that_litellm_made_up_gives_way_to_the_cause(
    cause: Exception | None, expected: type[UpstreamError]
) -> None:
    failure = read_failure(_raised(APIError(500), cause), "main")

    assert type(failure) is expected
    assert SECRET not in str(failure)


def test_cause_behind_two_wrappers_is_found() -> None:
    inner = _raised(APIError(500), ConnectError())

    assert isinstance(read_failure(APIError(503, original_exception=inner)), Unreachable)


def test_errors_that_cause_each_other_are_read_to_an_end() -> None:
    first, second = APIError(500), APIError(500)
    first.__cause__, second.__cause__ = second, first

    assert isinstance(read_failure(first), BadReply)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "invalid_request_error"),
        (429, "rate_limit_error"),
        (503, "upstream_error"),
    ],
)
def test_status_of_the_provider_is_kept_and_its_message_is_not(status: int, kind: str) -> None:
    refusal, body = _refused(_raised(APIError(status), HTTPStatusError()))

    assert refusal.status == status
    assert body["type"] == kind
    assert str(status) in body["message"]
    assert SECRET not in refusal.body.decode()


@pytest.mark.parametrize("status", [None, 200, 700, "404"])
def test_error_without_an_error_status_is_a_bad_reply(status: object) -> None:
    assert isinstance(read_failure(_raised(APIError(status), HTTPStatusError())), BadReply)


def test_wait_that_the_provider_asks_for_is_handed_on() -> None:
    error = APIError(429, response=_Response({"retry-after": "7", "set-cookie": "x"}))

    refusal, _ = _refused(error)

    assert refusal.headers == [("content-type", "application/json"), ("retry-after", "7")]


def test_wait_that_is_no_number_is_left_out() -> None:
    refusal, _ = _refused(APIError(429, response=_Response({"retry-after": "soon\r\nx: y"})))

    assert refusal.headers == [("content-type", "application/json")]


@pytest.mark.parametrize(
    ("code", "shown"),
    [("model_not_found", "model_not_found"), ("sk-1 x", "invalid_request_error"), (7, None)],
    ids=["word", "not_a_word", "number"],
)
def test_code_of_the_provider_is_handed_on_where_it_is_a_word(
    code: object, shown: str | None
) -> None:
    _, body = _refused(APIError(404, code=code))

    assert body["code"] == (shown or "invalid_request_error")


def test_context_overflow_has_the_code_that_openai_gives_it() -> None:
    _, body = _refused(ContextWindowExceededError(400))

    assert body["code"] == "context_length_exceeded"


def test_unsupported_parameters_are_named_without_their_values() -> None:
    refusal, body = _refused(UnsupportedParamsError(400))

    assert "`logit_bias`, `seed`" in body["message"]
    assert (body["code"], body["param"]) == ("unsupported_parameter", "logit_bias")
    assert SECRET not in refusal.body.decode()
