"""The command line: arguments in, exit codes out. Thin; every command is a function elsewhere."""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from proxy import PRODUCT, __version__
from proxy.cli_bench import add_bench
from proxy.cli_imitate import add_imitate, refuse_imitate_options, run_imitate
from proxy.cli_ledger import add_ledger
from proxy.cli_recipe import add_recipe
from proxy.errors import ConfigError, Problem, SluicegateError

OK: Final = 0
DIFFERENT: Final = 1
WRONG: Final = 2
INTERRUPTED: Final = 130

_FLAG_NAMES: Final = {
    "lanes.main.url": "--upstream",
    "listen.host": "--host",
    "listen.port": "--port",
    "admin.port": "--admin-port",
    "policies.folder": "--policies",
    "observe": "--observe",
}

Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0: done, 2: something is wrong with arguments, settings or files."""
    options = build_parser().parse_args(arguments)
    run: Command = options.run
    try:
        return run(options)
    except ConfigError as error:
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        return WRONG
    except SluicegateError as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as `| head` does; Python would complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PRODUCT,
        description="A gating proxy for vLLM: the OpenAI API with a contract on every reply.",
        epilog="Documentation: docs/ in the source, or the repository's page.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_serve(commands)
    _add_demo(commands)
    _add_init(commands)
    _add_policy(commands)
    _add_keys(commands)
    add_recipe(commands)
    add_ledger(commands)
    add_bench(commands)
    version = commands.add_parser("version", help="print the version")
    version.set_defaults(run=_version)
    return parser


def _add_serve(commands: Any) -> None:
    serve = commands.add_parser(
        "serve",
        help="serve the gate before an upstream",
        description="Serve the gate. Settings come from a file, SLUICEGATE_* variables and flags; "
        "the later ones win.",
    )
    serve.add_argument(
        "--config", type=Path, metavar="FILE", help="settings file (default: ./sluicegate.yaml)"
    )
    _add_overrides(serve)
    serve.set_defaults(run=_serve)


def _add_overrides(command: argparse.ArgumentParser) -> None:
    flags = command.add_argument_group("settings")
    for setting, metavar, text in (
        ("lanes.main.url", "URL", "the server behind the gate"),
        ("listen.host", "HOST", "address to listen on"),
        ("listen.port", "PORT", "port of the OpenAI surface"),
        ("admin.port", "PORT", "port of metrics and health"),
        ("policies.folder", "DIR", "folder of policy files"),
    ):
        flag = _FLAG_NAMES[setting]
        flags.add_argument(flag, dest=setting, metavar=metavar, help=f"{text} ({setting})")
    flags.add_argument(
        "--observe",
        dest="observe",
        action="store_true",
        default=None,
        help="judge and count everything, enforce nothing",
    )
    flags.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any setting by its dotted name, e.g. --set limits.idle_seconds=120",
    )


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="a small real model behind the gate, five requests, and what the gate did",
        description="Start an embedded model (or use --upstream), serve the gate before it, send "
        "five requests, show each answer with what the gate did, then serve until Ctrl-C. With "
        "--imitate: an imitation of a server and a load, for dashboards and load tests.",
    )
    upstream = demo.add_mutually_exclusive_group()
    upstream.add_argument(
        "--upstream", metavar="URL", help="your own vLLM instead of the small model"
    )
    add_imitate(demo, upstream)
    demo.add_argument("--port", type=int, default=8800, help="port of the OpenAI surface")
    demo.add_argument("--admin-port", type=int, default=8801, help="port of metrics and health")
    demo.add_argument(
        "--once", action="store_true", help="leave after the five requests instead of serving on"
    )
    demo.set_defaults(run=_demo)


def _add_init(commands: Any) -> None:
    init = commands.add_parser(
        "init",
        help="lay out settings, policies, recipes and dashboards for editing",
        description="Write sluicegate.yaml and copies of the shipped policies, recipes and "
        "dashboards to DIR. Files that exist are left alone.",
    )
    init.add_argument("folder", type=Path, metavar="DIR")
    init.set_defaults(run=_init)


def _add_policy(commands: Any) -> None:
    policy = commands.add_parser("policy", help="work on policy files")
    actions = policy.add_subparsers(title="actions", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="are these policy files right?")
    check.add_argument("files", type=Path, nargs="+", metavar="FILE")
    check.set_defaults(run=_policy_check)
    test = actions.add_parser(
        "test",
        help="do the fixtures of these policies hold?",
        description="Put each fixture's request and replies through the policy, and compare "
        "verdicts and outcome. Exit code 0: all hold, 1: some do not, 2: a file is wrong.",
    )
    test.add_argument("files", type=Path, nargs="+", metavar="FILE")
    test.add_argument(
        "--fixtures",
        type=Path,
        metavar="DIR",
        help="folder of fixtures (default: fixtures/NAME beside the policy)",
    )
    test.set_defaults(run=_policy_test)


def _add_keys(commands: Any) -> None:
    keys = commands.add_parser("keys", help="work on the keys of clients")
    actions = keys.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = actions.add_parser(
        "add",
        help="make a key; it is shown once and stored as a hash",
        description="Make a key for a client. The key is printed once; the file keeps its hash.",
    )
    add.add_argument("name", metavar="NAME", help="who uses the key; shown in logs")
    add.add_argument(
        "--file", type=Path, default=Path("keys.yaml"), help="keys file (default: keys.yaml)"
    )
    add.set_defaults(run=_keys_add)


def _serve(options: argparse.Namespace) -> int:
    # What is imported stays: looking through it again and again would be a tenth of the start.
    gc.disable()
    from proxy.server import run_serve

    gc.enable()

    given = {name: value for name, value in vars(options).items() if name in _FLAG_NAMES}
    flags: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    names = dict(_FLAG_NAMES)
    for override in options.overrides:
        name, _, value = override.partition("=")
        flags[name] = value
        names[name] = f"--set {name}"
    run_serve(options.config, flags, names)
    return OK


def _demo(options: argparse.Namespace) -> int:
    if options.imitate:
        return run_imitate(options)
    refuse_imitate_options(options)
    from proxy.demo.command import demo

    return demo(options.upstream, options.port, options.admin_port, once=options.once)


def _init(options: argparse.Namespace) -> int:
    from proxy.layout import lay_out

    for line in lay_out(options.folder):
        print(line)
    return OK


def _policy_check(options: argparse.Namespace) -> int:
    from proxy.contract.policy_file import load_policy
    from proxy.gates.registry import gate_kinds

    problems: list[Problem] = []
    for file in options.files:
        try:
            policy = load_policy(file, gate_kinds())
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            gates = ", ".join(rule.gate.name for rule in policy.rules) or "no gate"
            print(f"{file}: right. {policy.label} ({policy.mode}): {gates}")
    if problems:
        raise ConfigError(problems)
    return OK


def _policy_test(options: argparse.Namespace) -> int:
    from proxy.contract.fixture_report import FixtureReport

    report = FixtureReport(options.fixtures)
    for line in report.lines(options.files):
        print(line)
    return OK if report.holds else DIFFERENT


def _keys_add(options: argparse.Namespace) -> int:
    from proxy.keys import add_key

    print(add_key(options.file, options.name))
    print(
        f"This is the only time the key is shown; {options.file} keeps its hash. "
        "Running proxies read the file at their start.",
        file=sys.stderr,
    )
    return OK


def _version(_: argparse.Namespace) -> int:
    print(f"{PRODUCT} {__version__}")
    return OK
