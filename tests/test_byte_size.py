import pytest

from proxy.byte_size import read_byte_size
from proxy.contract.section import CheckFailed


@pytest.mark.parametrize(
    ("written", "size"),
    [
        pytest.param(1048576, 1048576, id="number"),
        pytest.param("512", 512, id="digits"),
        pytest.param("32MiB", 32 * 1024**2, id="binary unit"),
        pytest.param("8 MB", 8_000_000, id="decimal unit with space"),
        pytest.param("512kib", 512 * 1024, id="any case"),
        pytest.param(" 1 B ", 1, id="spaces around"),
        pytest.param("2GiB", 2 * 1024**3, id="large unit"),
    ],
)
def test_size_is_read_as_people_write_it(written: object, size: int) -> None:
    assert read_byte_size(written) == size


@pytest.mark.parametrize("value", [pytest.param(None, id="nothing"), pytest.param(1.5, id="float")])
def test_what_is_no_text_is_left_to_the_type_check(value: object) -> None:
    assert read_byte_size(value) is value


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("", id="empty"),
        pytest.param("MiB", id="unit only"),
        pytest.param("-1", id="negative"),
        pytest.param("1.5MiB", id="fraction"),
        pytest.param("3 pounds", id="foreign unit"),
        pytest.param("9" * 13, id="too many digits"),
        pytest.param("٣MiB", id="other digits"),
    ],
)
def test_what_is_no_size_is_refused_with_a_remedy(written: str) -> None:
    with pytest.raises(CheckFailed, match="is no size") as caught:
        read_byte_size(written)

    assert "32MiB" in caught.value.remedy
