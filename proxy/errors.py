"""The error tree, the closed list of fault classes, and the bodies that clients see.

    SluicegateError
      ConfigError         SettingsError, PolicyError, RecipeError, KeysError
      RequestError        client's fault or admission: nothing was sent upstream
        InvalidRequest 400, Unauthorized 401, Forbidden 403, NotFound 404, WrongMethod 405,
        BodyTooSlow 408, BodyTooLarge 413, UnsupportedEncoding 415, QueueFull 429, NotReady 503,
        HeadTooLarge 431 (in http_protocol)
      GateRejected        a gate said no, 422
      HeldForReview       the reply is kept back for a person, 422
      Interrupted         the proxy had to stop, 503
      LedgerTrouble       the ledger cannot be used (in ledger/trouble); no request sees it
      InstalledVllmError  an installed vLLM cannot be asked (in recipes/installed_vllm)
      UpstreamError
        Unreachable 503, BadReply 502, StreamBroken 502, TimedOut 504

Each class knows its HTTP status and OpenAI `type`. `after_dispatch` errors tell SDKs not to resend,
since a duplicate generation costs the engine a slot.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from typing_extensions import override


class Fault(StrEnum):
    """Fault classes: public error codes and metric label values. A closed set."""

    NOT_JSON = "not_json"
    LEADING_JUNK = "leading_junk"
    TRAILING_JUNK = "trailing_junk"
    TRUNCATED = "truncated"
    UNFINISHED = "unfinished"
    WHITESPACE_RUNAWAY = "whitespace_runaway"
    NUMBER_RUNAWAY = "number_runaway"
    BAD_STRING = "bad_string"
    DUPLICATE_KEY = "duplicate_key"
    NOT_FINITE = "not_finite"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    SCHEMA_VIOLATION = "schema_violation"
    EMPTY_CONTENT = "empty_content"
    IN_REASONING = "in_reasoning"

    UNKNOWN_TOOL = "unknown_tool"
    ARGUMENTS_NOT_JSON = "arguments_not_json"
    ARGUMENTS_VIOLATE_SCHEMA = "arguments_violate_schema"
    CALL_IN_TEXT = "call_in_text"
    CALL_IN_REASONING = "call_in_reasoning"
    MISSING_CALL = "missing_call"
    BAD_CALL_ID = "bad_call_id"
    WRONG_FINISH_REASON = "wrong_finish_reason"
    CALL_TRUNCATED = "call_truncated"

    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    BLANK = "blank"

    EVIDENCE_NUMBER = "evidence_number"
    EVIDENCE_UNIT = "evidence_unit"
    EVIDENCE_DATE = "evidence_date"
    EVIDENCE_VERSION = "evidence_version"
    EVIDENCE_IDENTIFIER = "evidence_identifier"
    EVIDENCE_URL = "evidence_url"
    EVIDENCE_QUOTATION = "evidence_quotation"
    EVIDENCE_NAME = "evidence_name"
    EVIDENCE_CAUSAL = "evidence_causal"
    EVIDENCE_NEGATION = "evidence_negation"
    EVIDENCE_NEW_WORDS = "evidence_new_words"

    OVERCONFIDENT = "overconfident"
    NEEDLESS_ABSTENTION = "needless_abstention"

    FORBIDDEN = "forbidden"
    REQUIRED_MISSING = "required_missing"
    WRONG_LANGUAGE = "wrong_language"
    PLACEHOLDER = "placeholder"

    STREAM_UNFINISHED = "stream_unfinished"
    ERROR_IN_STREAM = "error_in_stream"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    UPSTREAM_BAD_REPLY = "upstream_bad_reply"
    UPSTREAM_TIMEOUT = "upstream_timeout"
    UPSTREAM_IDLE = "upstream_idle"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file a problem sits; line and column count from 1, 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    @override
    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file or setting, and what to do about it."""

    place: Place
    message: str
    remedy: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.place}: {self.message}" + (f" ({self.remedy})" if self.remedy else "")


class SluicegateError(Exception):
    """Base of everything that Sluicegate raises on purpose."""


class ConfigError(SluicegateError):
    """Files or settings are wrong. Carries every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class SettingsError(ConfigError):
    """sluicegate.yaml, a SLUICEGATE_* variable or a flag is wrong."""


class PolicyError(ConfigError):
    """A policy file is wrong."""


class RecipeError(ConfigError):
    """A recipe file cannot be read."""


class KeysError(ConfigError):
    """The keys file cannot be read."""


class ReplyableError(SluicegateError):
    """An error that reaches a client as an HTTP reply or as the last event of a stream."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "api_error"
    default_code: ClassVar[str] = "internal_error"
    after_dispatch: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.param = param
        self.retry_after_seconds = retry_after_seconds

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        """What lets an error come back from another process whole."""
        rebuild = functools.partial(
            type(self),
            code=self.code,
            param=self.param,
            retry_after_seconds=self.retry_after_seconds,
        )
        return rebuild, (self.message,)

    def body(self) -> bytes:
        """The OpenAI error envelope as UTF-8 JSON."""
        error = {
            "message": self.message,
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }
        return json.dumps({"error": error}).encode()


class InternalError(ReplyableError):
    """A fault of Sluicegate itself; the cause is in the log, not in the reply."""

    after_dispatch = True


class RequestError(ReplyableError):
    """The client's fault, or no room: nothing was sent upstream."""

    status = 400
    type = "invalid_request_error"
    default_code = "invalid_request"


class InvalidRequest(RequestError):
    """The body is not a request that can be relayed or judged."""


class Unauthorized(RequestError):
    """No key, or a key that is not in the keys file."""

    status = 401
    type = "authentication_error"
    default_code = "invalid_api_key"


class Forbidden(RequestError):
    """The path or surface is closed by the settings."""

    status = 403
    type = "permission_error"
    default_code = "forbidden"


class NotFound(RequestError):
    """No such path behind this proxy."""

    status = 404
    default_code = "unknown_path"


class WrongMethod(RequestError):
    """The path exists, the method does not fit it."""

    status = 405
    default_code = "wrong_method"


class BodyTooSlow(RequestError):
    """The body did not arrive within its deadline."""

    status = 408
    default_code = "body_too_slow"


class BodyTooLarge(RequestError):
    """The body exceeds `limits.request_bytes`."""

    status = 413
    default_code = "body_too_large"


class UnsupportedEncoding(RequestError):
    """The body is compressed in a way the proxy does not read, or is not UTF-8."""

    status = 415
    default_code = "unsupported_encoding"


class QueueFull(RequestError):
    """Admission: the queue is full or the wait was too long."""

    status = 429
    type = "rate_limit_error"
    default_code = "queue_full"


class NotReady(RequestError):
    """The proxy is draining or its probe has not passed yet."""

    status = 503
    type = "service_unavailable"
    default_code = "not_ready"


class GateRejected(ReplyableError):
    """A gate said no and the ladder ended in `reject`. The code is the fault class."""

    status = 422
    type = "gate_rejected"
    default_code = "gate_rejected"
    after_dispatch = True


class HeldForReview(ReplyableError):
    """The ladder ended in `park`: the reply is kept back until a person has looked at it.

    Never a 2xx: SDKs would take it for a reply. `review_id` names the review.
    """

    status = 422
    type = "held_for_review"
    default_code = "held_for_review"
    after_dispatch = True

    def __init__(self, message: str, *, param: str | None, review_id: str) -> None:
        super().__init__(message, param=param)
        self.review_id = review_id

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        rebuild = functools.partial(type(self), param=self.param, review_id=self.review_id)
        return rebuild, (self.message,)

    @override
    def body(self) -> bytes:
        document = json.loads(super().body())
        document["error"]["review_id"] = self.review_id
        return json.dumps(document).encode()


class Interrupted(ReplyableError):
    """The proxy stopped before the reply was complete; the engine may have worked on it."""

    status = 503
    type = "service_unavailable"
    default_code = "draining"
    after_dispatch = True


class UpstreamError(ReplyableError):
    """The upstream could not be reached or did not answer as it should."""

    status = 502
    type = "upstream_error"
    default_code = Fault.UPSTREAM_BAD_REPLY
    after_dispatch = True


class Unreachable(UpstreamError):
    """No connection: refused, no route, name unknown, TLS failed. Nothing was generated."""

    status = 503
    default_code = Fault.UPSTREAM_UNREACHABLE
    after_dispatch = False


class BadReply(UpstreamError):
    """The upstream answered with something that is not the API: garbage, too large, cut off."""


class StreamBroken(UpstreamError):
    """A stream ended without a finish_reason, or carried an error object."""

    default_code = Fault.STREAM_UNFINISHED


class TimedOut(UpstreamError):
    """No reply within the deadline, or a stream that fell silent."""

    status = 504
    type = "timeout_error"
    default_code = Fault.UPSTREAM_TIMEOUT
