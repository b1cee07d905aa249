"""The commands `sluicegate ledger …`: arguments in, lines out. Thin, like the command line."""

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proxy.errors import Fault
from proxy.ledger.period import read_period
from proxy.telemetry.outcome import Outcome

if TYPE_CHECKING:
    from proxy.ledger.address import LedgerAddress


def add_ledger(commands: Any) -> None:
    """Add `ledger` and its actions to the commands."""
    ledger = commands.add_parser("ledger", help="look into the ledger, and prune it")
    actions = ledger.add_subparsers(title="actions", metavar="ACTION", required=True)
    starts = actions.add_parser(
        "starts",
        help="engine starts, and how often their first strict-JSON answer was invalid",
        description="Show engine starts, each lane's rate of invalid first answers, and its 95 % "
        "Wilson interval.",
    )
    starts.add_argument("--lane", metavar="L", help="of one lane")
    starts.set_defaults(run=_ledger_starts)
    requests = actions.add_parser("requests", help="the last requests, and what became of them")
    requests.add_argument("--outcome", choices=tuple(map(str, Outcome)), metavar="O")
    requests.add_argument("--policy", metavar="P", help="a name, or name@hash")
    requests.add_argument("--fault", choices=tuple(map(str, Fault)), metavar="F")
    requests.add_argument("--limit", type=_count, default=50, metavar="N", help="(default: 50)")
    requests.set_defaults(run=_ledger_requests)
    prune = actions.add_parser(
        "prune",
        help="remove old rows",
        description="Remove requests older than a period, while a proxy may go on writing.",
    )
    prune.add_argument("--older-than", type=read_period, required=True, metavar="PERIOD")
    prune.add_argument(
        "--starts", action="store_true", help="engine starts too; the newest of a lane stays"
    )
    prune.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    prune.set_defaults(run=_ledger_prune)
    for command in (starts, requests):
        command.add_argument("--since", type=read_period, metavar="PERIOD", help="e.g. 24h or 7d")
        command.add_argument("--json", action="store_true", help="one JSON document")
    for command in (starts, requests, prune):
        command.add_argument(
            "--config", type=Path, metavar="FILE", help="settings file (default: as `serve`)"
        )
        command.add_argument(
            "--url", metavar="URL", help="the ledger itself, for instance sqlite:///sluicegate.db"
        )


def _count(text: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,6}", text):
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number above 0, or too great")
    return int(text)


def _ledger_starts(options: argparse.Namespace) -> int:
    from proxy.ledger.command import show_starts

    return _print(
        show_starts(
            _ledger(options),
            lane=options.lane,
            since_seconds=options.since,
            as_json=options.json,
        )
    )


def _ledger_requests(options: argparse.Namespace) -> int:
    from proxy.ledger.command import show_requests

    return _print(
        show_requests(
            _ledger(options),
            outcome=options.outcome,
            policy=options.policy,
            fault=options.fault,
            since_seconds=options.since,
            limit=options.limit,
            as_json=options.json,
        )
    )


def _ledger_prune(options: argparse.Namespace) -> int:
    from proxy.ledger.command import remove_old

    return _print(
        remove_old(
            _ledger(options),
            older_than_seconds=options.older_than,
            starts=options.starts,
            dry_run=options.dry_run,
        )
    )


def _ledger(options: argparse.Namespace) -> "LedgerAddress":
    from proxy.ledger_settings import chosen_ledger

    return chosen_ledger(options.config, options.url, os.environ)


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0
