import pytest

from proxy.ledger.samples import is_clean, samples_of
from proxy.telemetry.engine_start import FirstAnswer
from tests.fakes.records import clean_start, start_record


@pytest.mark.parametrize("untouched", [False, None])
def test_start_that_had_worked_or_may_have_is_no_clean_sample(untouched: bool | None) -> None:
    assert not is_clean(clean_start("k", untouched=untouched))


def test_start_whose_first_answer_was_not_judged_is_no_clean_sample() -> None:
    assert not is_clean(start_record(untouched=True, first_answer=FirstAnswer.UNKNOWN))
    assert is_clean(clean_start("k"))


def test_rate_counts_clean_samples_alone() -> None:
    starts = [
        clean_start("1", "leading_junk"),
        clean_start("2"),
        clean_start("3", "not_json"),
        clean_start("4", "not_json", untouched=False),
        start_record("5"),
    ]

    (samples,) = samples_of(starts)

    assert (samples.invalid, samples.count, samples.others) == (2, 3, 2)
    assert samples.rate == pytest.approx(2 / 3)
    assert samples.interval == pytest.approx((0.2077, 0.9385), abs=5e-5)


def test_only_the_identical_request_counts_as_identical_retry() -> None:
    starts = [
        clean_start("1", "not_json", retry_step="cold", retry_valid=True),
        clean_start("2", "not_json", retry_step="same", retry_valid=False),
        clean_start("3", "not_json", retry_step="vary", retry_valid=True),
        clean_start("4", "not_json"),
    ]

    (samples,) = samples_of(starts)

    assert (samples.invalid, samples.retried, samples.cured) == (4, 2, 1)


def test_each_lane_has_its_own_rate() -> None:
    samples = samples_of([clean_start("1", lane="main"), start_record("1", lane="judge")])

    assert [(one.lane, one.count, one.rate) for one in samples] == [
        ("judge", 0, None),
        ("main", 1, 0.0),
    ]
    assert samples[0].interval is None
