"""What is said of other programs on the machine."""

from bystanders import Moment, told


def test_processor_time_of_others_is_that_of_the_machine_less_ours() -> None:
    begin = Moment(clock=100, machine=1000, own=10)

    assert Moment(clock=110, machine=1018, own=23).bystanders_since(begin) == 0.5


def test_machine_that_tells_nothing_is_unknown() -> None:
    begin = Moment(clock=100, machine=None, own=10)

    assert Moment(clock=110, machine=None, own=23).bystanders_since(begin) is None
    assert told(None) == "other programs: unknown here"


def test_busy_machine_is_warned_of() -> None:
    assert "TOO BUSY" in told(0.2)
    assert "TOO BUSY" not in told(0.02)
