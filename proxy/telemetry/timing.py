"""Timings of one stream. Definitions follow llama-benchy and the article: see the glossary.

All instants are seconds on one monotonic clock.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """Instants of one upstream stream; None where the event never came.

    `first_response`: first event with non-empty `choices`, an empty role chunk included (TTFR).
    `first_token`, `last_token`: events with content, reasoning or tool-call material.
    `first_token_ids`: tokens in the first of these, where the upstream sends token ids, else 0.
    """

    first_response: float | None = None
    first_token: float | None = None
    last_token: float | None = None
    first_token_ids: int = 0


def tokens_per_second(times: StreamTimes, completion_tokens: int | None) -> float | None:
    """(n - k) / (last - first token event), k = 1, or the tokens of the first event where known.

    n comes from usage, never from chunks: with speculative decoding one chunk may hold several
    tokens. None for replies of one event, and where usage is missing.
    """
    if completion_tokens is None or times.first_token is None or times.last_token is None:
        return None
    seconds = times.last_token - times.first_token
    counted = completion_tokens - max(1, times.first_token_ids)
    if seconds <= 0 or counted <= 0:
        return None
    return counted / seconds
