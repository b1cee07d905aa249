from proxy.ledger.messages import ANSWER, BATCH, OPENING, Answer, Batch, Opening, encoded
from proxy.ledger.trouble import Trouble
from tests.fakes.records import attempt_record, clean_start, request_record


def test_messages_arrive_as_they_were_sent() -> None:
    opening = Opening("sqlite:///x.db", "a", ("main",), 50)
    attempts = (attempt_record(1, "not_json"), attempt_record(2))
    batch = Batch((request_record(attempts=attempts),), (clean_start("k", facts={"a": "b"}),))
    answer = Answer(Trouble.FULL, "no room", {"main": [clean_start("k")]}, "why")

    assert OPENING.decode(encoded(opening)) == opening
    assert BATCH.decode(encoded(batch)) == Batch(list(batch.requests), list(batch.starts))
    assert ANSWER.decode(encoded(answer)) == answer


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    """Places name members of replies, whose names may be anything."""
    batch = Batch((request_record("a\ud800b"),), (clean_start("k", facts={"\udc00": "\ud800"}),))

    arrived = BATCH.decode(encoded(batch))

    assert arrived.requests[0].id == "a?b"
    assert arrived.starts[0].facts == {"?": "?"}
