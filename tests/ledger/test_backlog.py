from proxy.ledger.backlog import Backlog


def test_oldest_are_taken_first_and_stay_until_they_are_done() -> None:
    backlog: Backlog[str] = Backlog(10, lambda _: None)
    for name in "abc":
        backlog.add(name)

    assert backlog.take(2) == ("a", "b")
    assert backlog.take(2) == ("a", "b")
    assert len(backlog) == 3
    backlog.done(1)
    assert backlog.take(2) == ("b", "c")
    backlog.done(2)
    assert (backlog.take(2), len(backlog)) == ((), 0)


def test_what_finds_no_room_is_dropped_and_counted() -> None:
    lost: list[int] = []
    backlog: Backlog[int] = Backlog(2, lost.append)

    for number in range(5):
        backlog.add(number)

    assert backlog.take(9) == (0, 1)
    assert (lost, backlog.dropped) == ([1, 1, 1], 3)


def test_everything_can_be_lost_at_once() -> None:
    lost: list[int] = []
    backlog: Backlog[int] = Backlog(9, lost.append)
    for number in range(3):
        backlog.add(number)
    backlog.take(1)

    assert backlog.drop_all() == 3
    assert backlog.drop_all() == 0
    assert (lost, len(backlog)) == ([3], 0)
