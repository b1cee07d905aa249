import pytest

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.call_watch import CallWatch

CALL = "<function=look></function>"


def _watch(*, may_be_bare: bool = False) -> CallWatch:
    def explain(choice: int) -> Verdict:
        return Verdict("test", Result.FAIL, Fault.CALL_IN_TEXT, place=str(choice))

    return CallWatch({"look"}, may_be_bare=may_be_bare, explain=explain)


def test_call_is_told_as_soon_as_it_is_certain() -> None:
    watch = _watch()

    told = [watch.feed(0, piece) for piece in ("Well.\n", "<function=", "look", ">")]

    assert told[:3] == [None, None, None]
    assert told[3] is not None
    assert watch.feed(0, "more") is not None


def test_each_choice_has_its_own_eye() -> None:
    watch = _watch()
    watch.feed(0, "<function=")
    watch.feed(1, "Well.")

    told = watch.feed(2, CALL)

    assert told is not None
    assert told.place == "2"
    assert [watch.suspects(choice) for choice in range(4)] == [True, False, True, False]


@pytest.mark.parametrize("may_be_bare", [True, False])
def test_text_that_begins_as_a_bare_call_is_suspect_where_it_may_be_one(
    *, may_be_bare: bool
) -> None:
    watch = _watch(may_be_bare=may_be_bare)

    assert watch.feed(0, '{"name"') is None
    assert watch.suspects(0) is may_be_bare
