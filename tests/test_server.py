"""The command `serve` inside this process; tests/e2e/test_serve.py runs it as one of its own."""

import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

from proxy.cli import main
from proxy.errors import SettingsError
from proxy.server import bind


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _stop_when_it_answers(url: str, answers: list[int]) -> None:
    end = time.monotonic() + 20
    while not answers and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=1) as health:  # noqa: S310 - our own address
                answers.append(health.status)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


def test_serve_answers_until_a_signal_and_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    port, answers = _free_port(), list[int]()
    url = f"http://127.0.0.1:{port}"
    watcher = threading.Thread(target=_stop_when_it_answers, args=(url, answers))
    previous = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    watcher.start()

    status = main(
        [
            *("serve", "--upstream", "http://127.0.0.1:1", "--observe"),
            *("--port", str(port), "--admin-port", "0", "--set", "ledger.url=none"),
        ]
    )

    watcher.join()
    signal.signal(signal.SIGTERM, previous)
    told = capsys.readouterr().err
    assert (status, answers) == (0, [200])
    assert f"base_url  {url}/v1" in told
    assert "(unreachable)" in told
    assert "(observed only)" in told


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"], ids=["ipv4", "ipv6"])
def test_address_of_another_machine_is_named_with_its_flag(host: str) -> None:
    with pytest.raises(SettingsError, match="cannot listen here") as refused:
        bind(host, 0, "--host")

    assert "--host" in str(refused.value)
