"""Series that several dashboards show."""

from typing import Final

from grafana.generator.colours import NEUTRAL
from grafana.generator.panels import Words
from grafana.generator.promql import engine, gate, per_second, ratio, so_far

STREAMS: Final = 'stream="true"'
DELIVERED: Final = gate("time_to_first_response_seconds", STREAMS)
UPSTREAM: Final = gate("upstream_time_to_first_response_seconds", STREAMS)
TOKENS_PER_SECOND: Final = gate("output_tokens_per_second")
# Attempts beyond the first; a call that was not accepted and is made again is none.
RETRIES: Final = 'step!~"first|waited"'
# Those that a gate's verdict led to: the others follow a call that the engine failed.
GATE_RETRIES: Final = 'step!~"first|waited|upstream_fault"'
# Requests that the engine failed, or left without an answer: they have no time to a response.
FAILED: Final = 'outcome=~"upstream_failed|timed_out"'
FAILED_A_SECOND: Final = per_second(gate("requests_total", FAILED))
DRAFTS: Final = engine("spec_decode_num_drafts_total")
DRAFT_TOKENS: Final = engine("spec_decode_num_draft_tokens_total")
ACCEPTED: Final = engine("spec_decode_num_accepted_tokens_total")
ACCEPTANCE: Final = ratio(per_second(ACCEPTED), per_second(DRAFT_TOKENS))
ENGINES: Final = f"count({engine('num_requests_running')})"
# Whether the counter is there at all: of its first scrape there is no rate yet.
SPECULATING: Final = f"count({so_far(DRAFTS)})"
SPECULATION_OFF: Final = Words({-1: ("speculation off", NEUTRAL)})


def speculative(expression: str) -> str:
    """The value, or -1 where there is an engine that counts no drafts."""
    return f"{expression} or (-1 * {ENGINES} / {ENGINES} unless {SPECULATING})"
