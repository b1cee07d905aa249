import shutil
import sys
from pathlib import Path

import aiohttp
import pytest

from proxy.demo.observe.prometheus import (
    PrometheusFailed,
    find_prometheus,
    running_prometheus,
)

INSTALLED = shutil.which("prometheus") is not None
CONFIG = '{"scrape_configs": []}'
needs_prometheus = pytest.mark.skipif(not INSTALLED, reason="Prometheus is not installed")


def test_absent_program_is_none() -> None:
    assert find_prometheus(lambda _: None) is None


@pytest.mark.parametrize("helped", [True, False])
def test_command_ends_with_its_parent_where_that_can_be_had(*, helped: bool) -> None:
    known = {"prometheus": "/usr/bin/prometheus"} | ({"setpriv": "/bin/setpriv"} if helped else {})

    command = find_prometheus(known.get)

    assert command is not None
    assert command[-1] == "/usr/bin/prometheus"
    assert ("--pdeathsig" in command) == helped


@needs_prometheus
async def test_real_one_answers_and_leaves_nothing(unused_tcp_port: int) -> None:
    command = find_prometheus()
    assert command is not None

    async with (
        running_prometheus(command, CONFIG, unused_tcp_port) as prometheus,
        aiohttp.ClientSession() as http,
        http.get(f"{prometheus.url}/api/v1/status/config") as response,
    ):
        folder = folder_of(prometheus.process.pid)
        assert (await response.json())["status"] == "success"
        assert is_there(folder)

    assert prometheus.process.returncode is not None
    assert not is_there(folder)


def folder_of(pid: int) -> Path:
    arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    data = next(each for each in arguments if each.startswith("--storage.tsdb.path="))
    return Path(data.partition("=")[2]).parent


def is_there(folder: Path) -> bool:
    return folder.exists()


@needs_prometheus
async def test_configuration_that_it_refuses_is_told(unused_tcp_port: int) -> None:
    command = find_prometheus()
    assert command is not None

    with pytest.raises(PrometheusFailed, match="nonsense"):
        async with running_prometheus(command, '{"nonsense": 1}', unused_tcp_port):
            pass


async def test_program_that_ends_early_is_told_with_its_last_words(unused_tcp_port: int) -> None:
    dies = (sys.executable, "-c", "import sys; sys.exit('no room')")

    with pytest.raises(PrometheusFailed, match=r"status 1\.\nno room"):
        async with running_prometheus(dies, CONFIG, unused_tcp_port):
            pass
