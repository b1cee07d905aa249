from proxy.ledger.condition import Condition
from proxy.ledger.trouble import LedgerTrouble, Trouble

FULL = LedgerTrouble(Trouble.FULL, "x.db", "database or disk is full")
LOCKED = LedgerTrouble(Trouble.LOCKED, "x.db")
REFUSED = LedgerTrouble(Trouble.REFUSED, "x.db", "NOT NULL constraint failed")


def condition() -> tuple[Condition, list[str]]:
    said: list[str] = []
    return Condition("x.db", said.append), said


def test_ledger_that_works_from_the_start_says_nothing() -> None:
    ledger, said = condition()

    ledger.succeeds(0)
    ledger.succeeds(0)

    assert (ledger.works, said) == (True, [])


def test_nothing_works_before_the_first_success() -> None:
    assert not condition()[0].works


def test_trouble_is_told_once_and_its_end_once() -> None:
    ledger, said = condition()

    ledger.succeeds(0)
    ledger.fails(FULL)
    ledger.fails(FULL)
    worked = ledger.works
    ledger.succeeds(7)
    ledger.succeeds(7)

    assert not worked
    assert ledger.works
    assert len(said) == 2
    assert said[0].startswith(
        "The ledger x.db has no room: the disk is full (database or disk is full). Requests"
    )
    assert said[1] == "The ledger x.db works again; 7 records were lost."


def test_losses_are_those_since_it_worked() -> None:
    ledger, said = condition()

    ledger.fails(FULL)
    ledger.succeeds(7)
    ledger.fails(FULL)
    ledger.succeeds(9)

    assert said[-1].endswith("2 records were lost.")


def test_trouble_of_another_kind_is_told_too() -> None:
    ledger, said = condition()

    ledger.fails(FULL)
    ledger.fails(LOCKED)

    assert [line.split(" ", 3)[3][:6] for line in said] == ["has no", "is loc"]


def test_refused_records_are_told_once_while_the_ledger_works() -> None:
    ledger, said = condition()

    ledger.succeeds(0)
    ledger.refuses(REFUSED)
    ledger.refuses(REFUSED)

    assert ledger.works
    assert len(said) == 1
    assert "refuses records (NOT NULL constraint failed)" in said[0]


def test_end_tells_of_records_that_were_not_written() -> None:
    ledger, said = condition()

    ledger.ends(3)
    ledger.fails(FULL)

    assert said == ["The ledger x.db did not take the last 3 records in time."]


def test_end_without_losses_is_not_told() -> None:
    ledger, said = condition()

    ledger.ends(0)

    assert said == []
