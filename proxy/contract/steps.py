"""What the steps of a ladder change in a request: `vary` and `reask`. `same` changes nothing.

Every change is spliced into the client's own bytes, so all that is not named here survives as sent.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from proxy.contract.policy import Vary
from proxy.telemetry.outcome import AttemptStep
from proxy.wire.reply import Choice
from proxy.wire.request import Request
from proxy.wire.splice import with_items, with_members

# Members by which a client chooses thinking for itself.
_THINKING_CHOICES: Final = ("enable_thinking", "thinking", "thinking_budget", "reasoning_effort")
_SEED_BITS: Final = 31
_NOTHING: Final = "(empty)"


@dataclass(frozen=True, slots=True)
class Draft:
    """The failed reply that a re-ask shows to the model, and the correction asked for."""

    choice: Choice | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Variation:
    """What `vary` may change, and the model of the lane's recipe, for requests by an alias.

    Other providers refuse members that not all of them know: there only the temperature changes.
    """

    vary: Vary
    recipe_model: str = ""
    speaks_vllm: bool = True


def body_for(
    step: AttemptStep, body: bytes, request: Request, variation: Variation, draft: Draft
) -> bytes:
    """The body of the next attempt. `body`: what the first attempt sent."""
    if step is AttemptStep.VARY:
        return with_members(body, _varied(request, variation))
    if step is AttemptStep.REASK:
        return with_members(body, {"messages": _reasked(request.messages, draft)})
    return body


def _varied(request: Request, variation: Variation) -> Mapping[str, bytes | None]:
    vary = variation.vary
    changes: dict[str, bytes | None] = {}
    if vary.fresh_seed and variation.speaks_vllm:
        changes["seed"] = str(secrets.randbits(_SEED_BITS)).encode()
    floor = vary.min_temperature
    if floor is not None and request.temperature is not None and request.temperature < floor:
        changes["temperature"] = json.dumps(floor).encode()
    if vary.thinking_off and _is_qwen(request, variation) and not _chose_thinking(request):
        switch = {"enable_thinking": b"false"}
        changes["chat_template_kwargs"] = with_members(
            request.chat_template_kwargs or b"{}", switch
        )
    return changes


def _is_qwen(request: Request, variation: Variation) -> bool:
    """The switch `enable_thinking` belongs to Qwen's chat templates."""
    names = f"{request.model} {variation.recipe_model}".lower()
    return variation.speaks_vllm and "qwen" in names


def _chose_thinking(request: Request) -> bool:
    if request.reasoning_effort:
        return True
    if not request.chat_template_kwargs:
        return False
    chosen: Any = json.loads(request.chat_template_kwargs)
    return not isinstance(chosen, dict) or any(name in chosen for name in _THINKING_CHOICES)


def _reasked(messages: bytes, draft: Draft) -> bytes:
    """The conversation with draft and correction as one last exchange.

    Tool calls are written as text, and nothing becomes a system message: Qwen's template refuses
    one that is not the first.
    """
    turns = (
        {"role": "assistant", "content": _draft_text(draft.choice)},
        {"role": "user", "content": draft.feedback},
    )
    return with_items(messages, [json.dumps(turn).encode() for turn in turns])


def _draft_text(choice: Choice | None) -> str:
    if choice is None:
        return _NOTHING
    calls = "\n".join(f"{call.name}({call.arguments})" for call in choice.tool_calls)
    return "\n".join(part for part in (choice.content or "", calls) if part) or _NOTHING
