"""Whether anything stayed behind after a soak."""

from dataclasses import replace

import pytest
from left_over import Left, Part, Soaked

AT_REST = Left(
    tasks={"serve": 2, "poll": 1},
    objects=900,
    open_files=40,
    sockets=9,
    processes=4,
    in_flight=0,
    queued=0,
    counted=100,
)
AFTER = replace(AT_REST, counted=300)


def parts(*resident_mib: float) -> list[Part]:
    return [Part(10_000 * (number + 1), 0, mib) for number, mib in enumerate(resident_mib)]


def soaked(after: Left = AFTER, *resident_mib: float) -> Soaked:
    return Soaked(parts(*(resident_mib or (90, 100, 100, 100))), AT_REST, after, 200)


def test_soak_that_left_nothing_is_clean() -> None:
    assert soaked().is_clean
    assert "**" not in soaked().markdown(["a machine"])


def test_first_quarter_is_not_judged() -> None:
    found = soaked(AFTER, 10, 100, 100, 100)

    assert found.slope_kib == pytest.approx(0)


def test_rising_memory_is_no_clean_soak() -> None:
    found = soaked(AFTER, 90, 100, 110, 120)

    assert found.slope_kib == pytest.approx(1024)
    assert found.grown == pytest.approx(20 / 120)
    assert not found.is_clean
    assert "16.7% of the memory: **growing**" in found.markdown([])


@pytest.mark.parametrize(
    "left",
    [
        replace(AFTER, tasks={"serve": 2, "poll": 1, "forgotten": 1}),
        replace(AFTER, open_files=41),
        replace(AFTER, sockets=10),
        replace(AFTER, processes=5),
        replace(AFTER, in_flight=1),
        replace(AFTER, queued=1),
    ],
    ids=["task", "file", "socket", "process", "in_flight", "queued"],
)
def test_anything_left_over_is_told(left: Left) -> None:
    found = soaked(left)

    assert not found.is_clean
    assert found.markdown([]).count("**left over**") == 1


def test_request_that_was_not_counted_is_told() -> None:
    found = soaked(replace(AFTER, counted=299))

    assert not found.is_clean
    assert "199, **not as many**" in found.markdown([])


def test_error_is_no_clean_soak() -> None:
    with_error = [*parts(100, 100, 100), Part(40_000, 1, 100)]

    assert not Soaked(with_error, AT_REST, AFTER, 200).is_clean


def test_memory_of_a_short_soak_is_not_judged() -> None:
    short = [replace(part, done=part.done // 100) for part in parts(90, 100, 110, 120)]

    found = Soaked(short, AT_REST, AFTER, 200)

    assert found.is_clean
    assert "too short to judge" in found.markdown([])
