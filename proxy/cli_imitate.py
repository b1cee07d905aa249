"""The options of `sluicegate demo --imitate`: arguments in, one value out. Thin."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from proxy.errors import ConfigError, Place, Problem

_VARIANTS: Final = ("baseline", "mtp1", "mtp2", "dflash", "nvfp4")
_MOST_SPEED: Final = 1000.0
_MOST_RATE: Final = 1000.0
_MOST_MINUTES: Final = 1440.0


def add_imitate(demo: argparse.ArgumentParser, upstream: Any) -> None:
    """Add `--imitate` to the choice of upstreams, and what goes with it to the command."""
    upstream.add_argument(
        "--imitate",
        choices=_VARIANTS,
        help="no model at all: a server with the pace of a variant, faults made up",
    )
    group = demo.add_argument_group("with --imitate")
    group.add_argument(
        "--fault",
        dest="faults",
        action="append",
        default=[],
        metavar="NAME=RATE",
        help="how often a fault comes, e.g. not_json=0.05; `none` first sets all to 0",
    )
    group.add_argument("--seed", type=int, default=1, help="same seed, same answers and load")
    group.add_argument(
        "--speed", type=_number(0.01, _MOST_SPEED), default=1.0, help="divides every time"
    )
    group.add_argument(
        "--rate",
        type=_number(0.0, _MOST_RATE),
        default=0.8,
        help="requests per second of the load, beside bursts; 0: no load (default: 0.8)",
    )
    group.add_argument(
        "--restart-minutes",
        type=_number(0.0, _MOST_MINUTES),
        default=0.0,
        help="restart the engine so often; 0: only on SIGHUP",
    )
    group.add_argument("--imitation-port", type=int, default=8000, help="port of the imitation")
    group.add_argument("--ledger", type=Path, metavar="FILE", help="keep the ledger in this file")
    group.add_argument("--prometheus", action="store_true", help="start a Prometheus beside it")
    group.add_argument("--prometheus-port", type=int, default=9090, help="its port")


def run_imitate(options: argparse.Namespace) -> int:
    """Run what was asked for. Raises `SluicegateError`."""
    from proxy.demo.imitate import ImitateOptions, imitate
    from proxy.demo.imitation.faults import read_rates
    from proxy.demo.imitation.server import ImitationOptions
    from proxy.demo.imitation.variant import VariantName, read_variant

    if options.once:
        problem = Problem(Place("--once"), "goes with the tour, not with --imitate", "leave it out")
        raise ConfigError([problem])
    imitation = ImitationOptions(
        variant=read_variant(VariantName(options.imitate)),
        rates=read_rates(options.faults),
        seed=options.seed,
        speed=options.speed,
        port=options.imitation_port,
        restart_seconds=60 * options.restart_minutes,
    )
    chosen = ImitateOptions(
        imitation=imitation,
        port=options.port,
        admin_port=options.admin_port,
        rate=options.rate,
        prometheus_port=options.prometheus_port if options.prometheus else None,
        ledger=options.ledger,
    )
    return imitate(chosen)


def _number(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"`{text}` is no number from {least:g} to {most:g}")
        return number

    return read
