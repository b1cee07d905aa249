"""The format of policy files as models; what stands inside a gate's block, its own model reads."""

import re
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from proxy.contract.policy import Attempts, Match, Review, Stream, StreamMode, Vary
from proxy.contract.section import CheckFailed, Section, not_yet

FORMAT: Final = 1
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def _check_format(value: Any) -> Any:
    if value != FORMAT or isinstance(value, bool):
        raise CheckFailed(
            f"is {value!r}, but this version reads format {FORMAT}", f"write `format: {FORMAT}`"
        )
    return value


def check_name(name: str) -> str:
    """A policy's name is a file name, a header value and a metric label, so it is a plain word."""
    if not NAME.fullmatch(name):
        message = f"cannot be `{name[:64]}`"
        raise CheckFailed(message, "use small letters, digits, `-` and `_`, at most 64")
    return name


def _check_glob(glob: str) -> str:
    if not glob.strip() or glob != glob.strip():
        raise CheckFailed("is empty or has spaces around it", 'write a glob such as "Qwen/*"')
    if glob.count("[") != glob.count("]"):
        raise CheckFailed(f"has a bracket without its partner: `{glob}`", "write `[abc]` or `*`")
    if "{" in glob or "," in glob:
        message = f"holds alternatives, which a glob cannot: `{glob}`"
        raise CheckFailed(message, "write one entry for each")
    return glob


_Endpoint: TypeAlias = Literal["chat", "completions", "responses", "messages"]


class MatchBlock(Section):
    models: Annotated[
        tuple[Annotated[str, AfterValidator(_check_glob)], ...],
        Field(strict=False, min_length=1, description="Case-sensitive globs, one of which holds."),
    ] = ("*",)
    endpoints: Annotated[tuple[_Endpoint, ...], Field(strict=False, min_length=1)] = (
        "chat",
        "completions",
        "responses",
        "messages",
    )
    header: Annotated[
        str | None,
        Field(description="The policy's own name: chosen only by x-sluicegate-policy."),
    ] = None

    def value(self) -> Match:
        return Match(self.models, self.endpoints, self.header)


class VaryBlock(Section):
    seed: Literal["fresh", "keep"] = "fresh"
    min_temperature: Annotated[
        float | None,
        Field(ge=0, le=2, description="Raises a lower value, never lowers one."),
    ] = 0.3
    thinking: Annotated[
        Literal["off_if_unset", "keep"], Field(description="Never against the client's own choice.")
    ] = "off_if_unset"


class AttemptsBlock(Section):
    max_attempts: Annotated[
        int, Field(ge=1, le=10, description="Upstream calls for one request, the first included.")
    ] = 3
    deadline_seconds: Annotated[float, Field(gt=0, description="All attempts together.")] = 120
    max_extra_tokens: Annotated[
        int, Field(ge=0, description="Completion tokens that failed attempts may cost.")
    ] = 8192
    cold: Annotated[
        Literal["same", "none"],
        Field(description="Engine cold: a strict-JSON fault first repeats the identical request."),
    ] = "same"
    upstream_faults: Annotated[
        Literal["same", "none"],
        Field(description="Refused connection, 502, 503, a 500 while cold: once more."),
    ] = "same"
    vary: Annotated[VaryBlock, Field(description="What the step `vary` changes.")] = VaryBlock()
    feedback: Annotated[
        Literal["turn"],
        Field(description="`reask` appends draft and correction as a last exchange."),
    ] = "turn"
    deliver: Annotated[
        Literal["last", "best"],
        Field(description="best: fewest failed gates, then the mildest."),
    ] = "last"

    def value(self) -> Attempts:
        return Attempts(
            max_attempts=self.max_attempts,
            deadline_seconds=self.deadline_seconds,
            max_extra_tokens=self.max_extra_tokens,
            cold=self.cold == "same",
            upstream_faults=self.upstream_faults == "same",
            vary=Vary(
                fresh_seed=self.vary.seed == "fresh",
                min_temperature=self.vary.min_temperature,
                thinking_off=self.vary.thinking == "off_if_unset",
            ),
            deliver_best=self.deliver == "best",
        )


class StreamBlock(Section):
    mode: Annotated[
        Annotated[Literal["pass", "hold", "auto"], not_yet({"window": "auto"})],
        Field(
            description="auto: window where all gates of a request let text flow, "
            "hold where one does not, else pass."
        ),
    ] = "auto"
    window_holdback_characters: Annotated[int, Field(ge=0)] = 64
    reasoning: Literal["hold", "release"] = "hold"
    keepalive_after_seconds: Annotated[
        float, Field(ge=0, description="SSE comment while holding; 0: never.")
    ] = 20
    keepalive_every_seconds: Annotated[float, Field(gt=0)] = 15

    def value(self) -> Stream:
        return Stream(
            mode=StreamMode(self.mode),
            keepalive_after_seconds=self.keepalive_after_seconds,
            keepalive_every_seconds=self.keepalive_every_seconds,
            window_holdback_characters=self.window_holdback_characters,
            reasoning_hold=self.reasoning == "hold",
        )


class ReviewBlock(Section):
    store: Annotated[
        Literal["none", "bodies"],
        Field(description="bodies: the review queue gets the texts of flagged and parked replies."),
    ] = "none"

    def value(self) -> Review:
        return Review(stores_bodies=self.store == "bodies")


class PolicyDocument(Section):
    """A policy file without the insides of its gates, which each gate's own model reads."""

    format: Annotated[
        Literal[1], BeforeValidator(_check_format), Field(description="Version of this format.")
    ]
    name: Annotated[
        str, AfterValidator(check_name), Field(description="The file's name without `.yaml`.")
    ]
    description: str = ""
    mode: Annotated[
        Literal["enforce", "observe"],
        Field(description="observe: judge and count, change nothing."),
    ] = "enforce"
    match: Annotated[MatchBlock, Field(description="Every key must hold.")] = MatchBlock()
    attempts: AttemptsBlock = AttemptsBlock()
    stream: StreamBlock = StreamBlock()
    gates: dict[str, Any]
    record: Annotated[Literal["none", "verdicts"], not_yet({"bodies": "verdicts"})] = "verdicts"
    review: Annotated[ReviewBlock, Field(description="Replies that are flagged or parked.")] = (
        ReviewBlock()
    )
