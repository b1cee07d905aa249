import pytest

from proxy.contract.section import CheckFailed
from proxy.lane_url import read_lane_url


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        pytest.param("http://h:8000/v1", "http://h:8000/v1", id="version"),
        pytest.param("http://h:8000/v1/", "http://h:8000/v1", id="version and slash"),
        pytest.param("https://h/", "https://h", id="slash"),
        pytest.param("https://h/vllm/", "https://h/vllm", id="prefix"),
        pytest.param("HTTP://[::1]:80", "http://[::1]:80", id="ipv6"),
    ],
)
def test_lane_url_loses_its_version(url: str, kept: str) -> None:
    assert read_lane_url(url) == kept


@pytest.mark.parametrize(
    ("url", "message", "remedy"),
    [
        pytest.param("ftp://h", "no http or https URL", "http://127.0.0.1:8000", id="scheme"),
        pytest.param("127.0.0.1:8000", "no http or https URL", "http://", id="no scheme"),
        pytest.param("http://", "no http or https URL", "http://127.0.0.1:8000", id="no host"),
        pytest.param("http://:80", "no http or https URL", "http://127.0.0.1:8000", id="port only"),
        pytest.param("http://h:abc", "no URL: Port", "http://127.0.0.1:8000", id="port"),
        pytest.param("http://[::1", "no URL: Invalid IPv6", "http://", id="open bracket"),
        pytest.param("http://h/ v1", "spaces", "http://127.0.0.1:8000", id="space"),
        pytest.param("http://h\n", "spaces", "http://127.0.0.1:8000", id="line end"),
        pytest.param("http://u@h", "credentials", "key_env", id="user"),
        pytest.param("http://:p@h", "credentials", "key_env", id="password"),
        pytest.param("http://h?", "query", "leave out", id="query"),
        pytest.param("http://h#x", "fragment", "leave out", id="fragment"),
    ],
)
def test_bad_address_is_refused_with_a_remedy(url: str, message: str, remedy: str) -> None:
    with pytest.raises(CheckFailed) as caught:
        read_lane_url(url)

    assert message in str(caught.value)
    assert remedy in caught.value.remedy
