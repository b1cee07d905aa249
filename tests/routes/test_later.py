import asyncio
import threading
from typing import Any

import pytest

from proxy.routes.asgi import Application, Receive, Scope, Send
from proxy.routes.later import LaterApp


class Built:
    """An application, and where and how often it was built; `may_go_on` holds the building up."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.threads: list[threading.Thread] = []
        self.may_go_on = threading.Event()

    def build(self) -> Application:
        self.threads.append(threading.current_thread())
        self.may_go_on.wait(10)

        async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
            self.asked.append(scope["path"])

        return app


async def _nothing(*_: Any) -> Any:
    raise AssertionError


def ask(app: LaterApp, path: str) -> "asyncio.Task[None]":
    return asyncio.ensure_future(app({"type": "http", "path": path}, _nothing, _nothing))


async def test_nothing_is_built_before_somebody_asks() -> None:
    built = Built()

    LaterApp(built.build)

    assert built.threads == []


async def test_those_who_ask_at_once_share_what_a_thread_builds() -> None:
    built = Built()
    app = LaterApp(built.build)

    asking = [ask(app, path) for path in "ab"]
    await asyncio.sleep(0)
    built.may_go_on.set()
    await asyncio.gather(*asking, ask(app, "c"))
    await ask(app, "d")

    assert len(built.threads) == 1
    assert built.threads[0] is not threading.current_thread()
    assert sorted(built.asked) == ["a", "b", "c", "d"]


async def test_who_leaves_does_not_take_it_from_the_others() -> None:
    built = Built()
    app = LaterApp(built.build)

    leaving, staying = ask(app, "leaves"), ask(app, "stays")
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait({leaving})
    built.may_go_on.set()
    await staying

    assert built.asked == ["stays"]


async def test_application_that_cannot_be_built_is_an_error_for_each_who_asks() -> None:
    def build() -> Application:
        raise ImportError("fastapi")

    app = LaterApp(build)

    for _ in range(2):
        with pytest.raises(ImportError, match="fastapi"):
            await ask(app, "x")
