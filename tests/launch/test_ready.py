from dataclasses import replace
from pathlib import Path

from aiohttp import web

from proxy.launch.address import EngineAddress
from proxy.launch.display import Display
from proxy.launch.engine_log import EngineLog
from proxy.launch.engine_view import EngineView
from proxy.launch.log_file import LogFile
from proxy.launch.ready import ReadyReport
from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.queries import read_starts
from tests.engines.server import free_port
from tests.fakes.launch import BOOT_LOG, COLD_METRICS, Screen, recipe_at
from tests.launch.test_engine_view import engine


async def report(folder: Path, url: str, ledger: LedgerAddress | None) -> str:
    """What is told of an engine that printed the recorded log."""
    screen = Screen()
    python = folder / "venv" / "bin" / "python"
    packages = folder / "venv" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.13.0+cu130.dist-info").mkdir(parents=True)
    recipe = recipe_at(folder, 8000)
    told = ReadyReport(
        recipe=replace(recipe, engine=replace(recipe.engine, max_model_len=4096)),
        python=python,
        address=EngineAddress("127.0.0.1", 8000),
        ledger=ledger,
        display=Display(screen, {}),
        front=None,
    )
    with LogFile(folder / "a.log") as file:
        log = EngineLog(file, Display(Screen(), {}), lambda: 0.0)
        log(BOOT_LOG.read_bytes())
        async with EngineView(url) as view:
            await told(log, view)
    return screen.getvalue()


async def test_facts_are_shown_and_stored_with_the_start(tmp_path: Path) -> None:
    address = read_address(f"sqlite:///{tmp_path}/ledger.db")
    pages = {
        "metrics": web.Response(text=COLD_METRICS),
        "version": web.json_response({"version": "0.32.0"}),
    }
    async with engine(**pages) as url:
        told = await report(tmp_path, url, address)
    (start,) = read_starts(address, None, None)

    assert "http://127.0.0.1:8000/v1" in told
    assert "  torch       2.13.0+cu130\n" in told
    assert "  KV tokens   45056\n" in told
    assert "same MTP layer" in told
    assert "max_model_len is 2048 at the server, the recipe says 4096" in told
    assert f"(engine start {start.key})" in told
    assert start.facts["torch"] == "2.13.0+cu130"
    assert start.facts["same_mtp_layer"] == "warned"
    assert start.facts["contradicts"].startswith("max_model_len")


async def test_nothing_is_stored_where_the_settings_say_so(tmp_path: Path) -> None:
    async with engine(metrics=web.Response(text=COLD_METRICS)) as url:
        told = await report(tmp_path, url, None)

    assert "  ledger      none" in told


async def test_start_that_cannot_be_told_from_another_is_not_stored(tmp_path: Path) -> None:
    address = read_address(f"sqlite:///{tmp_path}/ledger.db")

    told = await report(tmp_path, f"http://127.0.0.1:{free_port()}", address)

    assert "do not tell one start from another" in told
    assert "  KV tokens   45056\n" in told


async def test_ledger_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("no database")
    address = read_address(f"sqlite:///{tmp_path}/ledger.db")
    async with engine(metrics=web.Response(text=COLD_METRICS)) as url:
        told = await report(tmp_path, url, address)

    assert "  ledger      not written: " in told
