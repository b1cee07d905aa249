"""A headless Chromium, steered over its DevTools protocol: opens, reads and pictures pages."""

import asyncio
import base64
import itertools
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

_START_SECONDS: Final = 30.0
_CALL_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.05
_FLAGS: Final = (
    "--headless",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


class PageFailed(Exception):
    """The browser could not do what was asked, or the page threw; the text says which."""


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._loaded = False
        self.thrown: list[str] = []

    async def open(self, url: str, width: int, height: int) -> None:
        """Go there with a window of that many pixels, and wait until it is loaded."""
        await self._call("Runtime.enable")
        await self._call("Page.enable")
        await self.resize(width, height)
        self._loaded = False
        await self._call("Page.navigate", url=url)
        async with asyncio.timeout(_CALL_SECONDS):
            while not self._loaded:
                await self._told()

    async def value(self, expression: str) -> Any:
        """What an expression comes to in the page; a promise is awaited. `None` is no value."""
        found = await self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise PageFailed(str(found["exceptionDetails"]))
        return found["result"].get("value")

    async def picture(self) -> bytes:
        """The whole page as PNG, as wide and high as the window."""
        found = await self._call("Page.captureScreenshot", format="png")
        return base64.b64decode(found["data"])

    async def resize(self, width: int, height: int) -> None:
        """Make the window that many pixels wide and high."""
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def _call(self, method: str, **parameters: object) -> Any:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(_CALL_SECONDS):
            while (told := await self._told()).get("id") != number:
                pass
        if "error" in told:
            raise PageFailed(f"{method}: {told['error']}")
        return told["result"]

    async def _told(self) -> Any:
        """The next message of the browser: an answer, or an event that is noted here."""
        told = await self._socket.receive_json()
        if told.get("method") == "Runtime.exceptionThrown":
            self.thrown.append(str(told["params"]["exceptionDetails"]))
        self._loaded |= told.get("method") == "Page.loadEventFired"
        return told


class Browser:
    """A Chromium that listens for its DevTools on loopback."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self._url = url
        self._http = http

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """A new tab; it is closed with the block."""
        async with self._http.put(f"{self._url}/json/new") as response:
            tab = await response.json()
        async with self._http.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            yield Page(socket)
        async with self._http.get(f"{self._url}/json/close/{tab['id']}"):
            pass


@asynccontextmanager
async def browser(program: str) -> AsyncIterator[Browser]:
    """Start Chromium with a profile of its own, and stop it with the block."""
    # Chromium's sandbox refuses to run as root.
    flags = (*_FLAGS, "--no-sandbox") if os.geteuid() == 0 else _FLAGS
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            *(program, *flags, f"--user-data-dir={profile}", "about:blank"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(process, Path(profile, "DevToolsActivePort"))
            async with aiohttp.ClientSession() as http:
                yield Browser(f"http://127.0.0.1:{port}", http)
        finally:
            await _stop(process)


async def _port(process: asyncio.subprocess.Process, told: Path) -> int:
    """Chromium writes the port that it took as the first line of a file."""
    try:
        async with asyncio.timeout(_START_SECONDS):
            while process.returncode is None:
                lines = _lines(told)
                if lines:
                    return int(lines[0])
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError as error:
        raise PageFailed(f"Chromium did not listen within {_START_SECONDS:g} s") from error
    raise PageFailed(f"Chromium ended with code {process.returncode}")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    await process.wait()
