from itertools import repeat

from proxy.launch.restarts import RestartRule, Restarts


def test_without_a_rule_the_first_death_is_the_last() -> None:
    assert Restarts(None).after(5000.0) is None


def test_pause_doubles_up_to_its_most() -> None:
    restarts = Restarts(RestartRule())

    pauses = [restarts.after(ready) for ready in repeat(10.0, 9)]

    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_long_life_begins_anew() -> None:
    restarts = Restarts(RestartRule())
    for _ in range(5):
        restarts.after(10.0)

    assert restarts.after(600.0) == 1


def test_engine_that_never_gets_ready_is_given_up() -> None:
    restarts = Restarts(RestartRule(boot_deaths=3))

    assert [restarts.after(None) for _ in range(3)] == [1, 2, None]


def test_ready_engine_between_two_failed_boots_counts() -> None:
    restarts = Restarts(RestartRule(boot_deaths=2))

    pauses = [restarts.after(ready) for ready in (None, 1.0, None, None)]

    assert pauses == [1, 2, 4, None]
