from proxy.contract.repaired import with_repairs
from proxy.gates.base import Repair, Repaired
from proxy.wire.reply import Choice, Reply, Usage

REPLY = Reply((Choice(0, "alt", reasoning="r"), Choice(2, "bleibt")), Usage(1, 2))


def test_new_content_takes_the_old_one_s_place() -> None:
    repaired = {0: Repaired("neu", (Repair.UNWRAP_FENCE,))}

    reply = with_repairs(REPLY, repaired)

    assert [choice.content for choice in reply.choices] == ["neu", "bleibt"]
    assert (reply.choices[0].reasoning, reply.usage) == ("r", REPLY.usage)


def test_content_that_was_found_in_the_reasoning_is_no_longer_there() -> None:
    reply = with_repairs(REPLY, {0: Repaired("neu", (Repair.JSON_FROM_REASONING,))})

    assert (reply.choices[0].content, reply.choices[0].reasoning) == ("neu", "")


def test_repair_of_arguments_leaves_the_content() -> None:
    reply = with_repairs(REPLY, {0: Repaired(None, (Repair.EMPTY_ARGUMENTS,), {0: "{}"})})

    assert reply == REPLY
