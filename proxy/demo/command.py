"""The command `demo`: listeners first, then engine, proxy and tour."""

import os
import sys
from pathlib import Path
from typing import TextIO

from proxy.demo.production_proxy import ProductionProxy, demo_settings
from proxy.demo.run import run_demo
from proxy.server import bound, fast_runner
from proxy.settings import Settings


def demo(upstream: str | None, port: int, admin_port: int, *, once: bool) -> int:
    """Run the demo until Ctrl-C, or for one tour (`once`); the exit code.

    Raises `SluicegateError`: a port that is taken before anything was started, a package that is
    missing, an engine that fails, an upstream that names no model.
    """
    settings = demo_settings(port, admin_port)
    # Lines of the request log would tear the tour's text apart.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, fast_runner() as runner:
        runner.run(show(settings, upstream or "", sys.stdout, nowhere, once=once))
    if not once:
        sys.stdout.write("\nStopped.\n")
    return 0


async def show(
    settings: Settings, upstream_url: str, out: TextIO, log: TextIO, *, once: bool = False
) -> None:
    """The same inside a running loop, with settings that lack only the lane."""
    with bound(settings) as sockets:
        await run_demo(ProductionProxy(settings, sockets, log), out, upstream_url, once=once)
