"""A reply as it would be delivered: with what gates have repaired in it."""

from collections.abc import Mapping
from dataclasses import replace

from proxy.gates.base import Repaired
from proxy.wire.reply import Choice, Reply


def with_repairs(reply: Reply, repaired: Mapping[int, Repaired]) -> Reply:
    """The reply with new contents by choice index. Arguments of calls stay: one gate reads them."""
    choices = [
        _repaired(choice, repaired[choice.index]) if choice.index in repaired else choice
        for choice in reply.choices
    ]
    return replace(reply, choices=tuple(choices))


def _repaired(choice: Choice, new: Repaired) -> Choice:
    if new.content is None:
        return choice
    return replace(
        choice, content=new.content, reasoning="" if new.clears_reasoning else choice.reasoning
    )
