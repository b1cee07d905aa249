"""The commands `sluicegate bench …`: arguments in, lines out. Thin, like the command line."""

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any, Final

OK: Final = 0
WRONG: Final = 2
INTERRUPTED: Final = 130


def add_bench(commands: Any) -> None:
    """Add `bench` and its actions to the commands."""
    bench = commands.add_parser("bench", help="measure a server, with the gates and without")
    actions = bench.add_subparsers(title="actions", metavar="ACTION", required=True)
    contract = actions.add_parser(
        "contract",
        help="short texts and teasers from sources: usable ones before and behind the gates",
        description="Send each case of the contract set to an OpenAI-compatible server, put the "
        "same answers through a policy's gates and ladder, and show what is usable before and "
        "after. Ctrl-C shows what is there. Exit code 0: complete, 2: not, 130: interrupted.",
    )
    contract.add_argument("--base-url", required=True, metavar="URL", help="with or without /v1")
    contract.add_argument(
        "--runs", type=_runs, default=3, metavar="N", help="how often each case (default: 3)"
    )
    contract.add_argument("--model", metavar="M", help="(default: the first that is served)")
    contract.add_argument("--api-key-env", metavar="NAME", help="variable that holds the key")
    contract.add_argument(
        "--policy", type=Path, metavar="FILE", help="(default: the shipped editorial-de)"
    )
    contract.add_argument(
        "--cases", type=Path, metavar="DIR", help="folder of cases (default: the shipped set)"
    )
    contract.add_argument("--json", action="store_true", help="one JSON document")
    contract.set_defaults(run=_bench_contract)


def _runs(text: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 1 to 9999")
    return int(text)


def _bench_contract(options: argparse.Namespace) -> int:
    from proxy.bench.contract_command import ContractBench, ContractOptions, key_from, measure

    chosen = ContractOptions(
        base_url=options.base_url,
        runs=options.runs,
        model=options.model,
        key=key_from(os.environ, options.api_key_env),
        policy=options.policy,
        cases=options.cases,
    )
    bench = ContractBench(chosen, sys.stderr)
    is_interrupted = measure(bench)
    report = bench.report
    for line in [report.json()] if options.json else report.lines():
        print(line)
    if is_interrupted:
        return INTERRUPTED
    return WRONG if bench.has_ended_early else OK
