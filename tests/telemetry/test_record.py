from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.record import RecentRequests, RequestRecord


def _record(request_id: str, status: int = 200) -> RequestRecord:
    return RequestRecord(
        id=request_id, received_at=0, endpoint=Endpoint.CHAT, outcome=Outcome.PASSED, status=status
    )


def test_last_requests_are_found_by_their_id() -> None:
    recent = RecentRequests(limit=2)
    for request_id in "abc":
        recent.add(_record(request_id))

    assert recent.get("a") is None
    assert [found and found.id for found in map(recent.get, "bc")] == ["b", "c"]


def test_repeated_id_tells_of_the_later_request_and_is_the_younger_one() -> None:
    recent = RecentRequests(limit=2)
    for record in (_record("a"), _record("b"), _record("a", 422), _record("c")):
        recent.add(record)

    found = recent.get("a")
    assert found
    assert found.status == 422
    assert recent.get("b") is None
