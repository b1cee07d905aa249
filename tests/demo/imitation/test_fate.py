from proxy.demo.imitation.fate import Fate
from proxy.demo.imitation.faults import MadeFault, read_rates
from tests.fakes.imitation import STRICT, asked, chance

MANY = 400


def fate(*faults: str, seed: int = 1) -> Fate:
    return Fate(read_rates(["none", *faults]), chance(seed))


def test_first_strict_answer_of_a_start_is_bad_and_its_retry_good() -> None:
    cold = fate("cold_strict_json=1")
    request, other = asked("one", response_format=STRICT), asked("two", response_format=STRICT)

    answers = [cold.fault(each) for each in (asked("text"), request, request, other)]

    assert answers == [None, MadeFault.DOUBLED_BRACE, None, None]


def test_start_stays_cold_until_a_strict_answer_was_good() -> None:
    cold = fate("cold_strict_json=1")
    probe, request, text = (
        asked("probe", response_format=STRICT),
        asked("one", response_format=STRICT),
        asked("text"),
    )

    answers = [cold.fault(each) for each in (probe, text, request, request)]
    after = cold.fault(asked("two", response_format=STRICT))

    assert answers == [MadeFault.DOUBLED_BRACE, None, MadeFault.DOUBLED_BRACE, None]
    assert after is None


def test_cold_answers_come_at_their_rate() -> None:
    bad = sum(
        fate("cold_strict_json=0.67", seed=seed).fault(asked(response_format=STRICT)) is not None
        for seed in range(MANY)
    )

    assert 0.57 < bad / MANY < 0.77


def test_faults_come_at_their_rate() -> None:
    drawn = fate("not_json=0.2", "fenced=0.1")

    faults = [drawn.fault(asked(str(n), response_format=STRICT)) for n in range(2000)]

    assert 0.17 < faults.count(MadeFault.NOT_JSON) / 2000 < 0.23
    assert 0.08 < faults.count(MadeFault.FENCED) / 2000 < 0.12


def test_request_that_failed_is_answered_well_the_next_time() -> None:
    drawn = fate("server_error=1")

    assert drawn.fault(asked("again")) is MadeFault.SERVER_ERROR
    assert drawn.fault(asked("again")) is None


def test_stubborn_fault_stays() -> None:
    drawn = fate("server_error=1", "stubborn=1")

    assert [drawn.fault(asked("again")) for _ in range(4)] == [MadeFault.SERVER_ERROR] * 4


def test_memory_of_requests_is_bounded() -> None:
    drawn = fate("server_error=1")

    for number in range(2000):
        drawn.fault(asked(str(number)))

    assert len(drawn._drawn) <= 512
