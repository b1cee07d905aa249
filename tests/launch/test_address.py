import socket
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.errors import SettingsError
from proxy.launch.address import EngineAddress
from tests.fakes.launch import recipe_at


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("0.0.0.0", 8123, "http://127.0.0.1:8123"),
        ("::", 8123, "http://[::1]:8123"),
        ("10.0.0.5", 8123, "http://10.0.0.5:8123"),
        (None, None, "http://127.0.0.1:8000"),
    ],
)
def test_own_requests_go_where_the_engine_listens(
    tmp_path: Path, host: str | None, port: int | None, url: str
) -> None:
    recipe = recipe_at(tmp_path, 1)
    recipe = replace(recipe, engine=replace(recipe.engine, host=host, port=port))

    assert EngineAddress.of(recipe).url == url


def test_engine_with_a_certificate_is_reached_over_tls() -> None:
    assert EngineAddress("", 8443, secure=True).url == "https://127.0.0.1:8443"


def test_port_that_is_taken_is_told_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = EngineAddress("127.0.0.1", taken.getsockname()[1])

        with pytest.raises(SettingsError, match=r"already in use.*--set port"):
            address.check_free()

    address.check_free()


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid", "a..b", "x" * 64])
def test_address_of_another_machine_is_told(host: str) -> None:
    with pytest.raises(SettingsError, match="not this machine's"):
        EngineAddress(host, 8000).check_free()
