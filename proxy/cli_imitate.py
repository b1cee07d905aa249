"""The options of `sluicegate demo --imitate`: arguments in, one value out. Thin."""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from proxy.errors import ConfigError, Place, Problem

_VARIANTS: Final = ("baseline", "mtp1", "mtp2", "dflash", "nvfp4")
_MOST_SPEED: Final = 1000.0
_MOST_RATE: Final = 1000.0
_MOST_MINUTES: Final = 1440.0
# The parser leaves None where an option was not given, so that a needless one can be refused.
_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "fault": (),
        "seed": 1,
        "speed": 1.0,
        "rate": 0.8,
        "restart_minutes": 0.0,
        "probe": False,
        "imitation_port": 8000,
        "ledger": None,
        "prometheus": False,
        "prometheus_port": 9090,
    }
)


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
        action="append",
        metavar="NAME=RATE",
        help="how often a fault comes, e.g. not_json=0.05; `none` first sets all to 0",
    )
    group.add_argument("--seed", type=int, help="same seed, same answers and load")
    group.add_argument("--speed", type=_number(0.01, _MOST_SPEED), help="divides every time")
    group.add_argument(
        "--rate",
        type=_number(0.0, _MOST_RATE),
        help="requests per second of the load, beside bursts; 0: no load (default: 0.8)",
    )
    group.add_argument(
        "--restart-minutes",
        type=_number(0.0, _MOST_MINUTES),
        help="restart the engine so often; 0: only on SIGHUP",
    )
    _flag(group, "--probe", "probe every start of the engine before requests are served")
    group.add_argument("--imitation-port", type=int, help="port of the imitation (default: 8000)")
    group.add_argument("--ledger", type=Path, metavar="FILE", help="keep the ledger in this file")
    _flag(group, "--prometheus", "start a Prometheus beside it")
    group.add_argument("--prometheus-port", type=int, help="its port (default: 9090)")


def refuse_imitate_options(options: argparse.Namespace) -> None:
    """Raise `ConfigError` for each option that would be ignored without `--imitate`."""
    _refuse(
        [name for name in _DEFAULTS if vars(options)[name] is not None],
        "goes with --imitate alone",
        "add --imitate mtp1, or leave it out",
    )


def run_imitate(options: argparse.Namespace) -> int:
    """Run what was asked for. Raises `SluicegateError`."""
    from proxy.demo.imitate import ImitateOptions, imitate
    from proxy.demo.imitation.faults import read_rates
    from proxy.demo.imitation.server import ImitationOptions
    from proxy.demo.imitation.variant import VariantName, read_variant

    _refuse(["once"] if options.once else [], "goes with the tour, not with --imitate")
    alone = options.prometheus_port is not None and not options.prometheus
    _refuse(["prometheus_port"] if alone else [], "goes with --prometheus", "add --prometheus")
    chosen = _with_defaults(options)
    imitation = ImitationOptions(
        variant=read_variant(VariantName(options.imitate)),
        rates=read_rates(chosen.fault),
        seed=chosen.seed,
        speed=chosen.speed,
        port=chosen.imitation_port,
        restart_seconds=60 * chosen.restart_minutes,
    )
    wanted = ImitateOptions(
        imitation=imitation,
        port=options.port,
        admin_port=options.admin_port,
        rate=chosen.rate,
        probe=chosen.probe,
        prometheus_port=chosen.prometheus_port if chosen.prometheus else None,
        ledger=chosen.ledger,
    )
    return imitate(wanted)


def _with_defaults(options: argparse.Namespace) -> argparse.Namespace:
    given = {name: value for name, value in vars(options).items() if value is not None}
    return argparse.Namespace(**{**_DEFAULTS, **given})


def _flag(group: Any, name: str, text: str) -> None:
    group.add_argument(name, action="store_true", default=None, help=text)


def _refuse(names: Sequence[str], message: str, remedy: str = "leave it out") -> None:
    places = (Place(f"--{name.replace('_', '-')}") for name in names)
    if problems := [Problem(place, message, remedy) for place in places]:
        raise ConfigError(problems)


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
