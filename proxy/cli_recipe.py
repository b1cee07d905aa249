"""The commands `sluicegate recipe …`: arguments in, lines out. Thin, like the command line."""

import argparse
import math
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from proxy.recipes.check.report import HeldAgainst
    from proxy.recipes.reading import Reading
    from proxy.recipes.recipe import Recipe
    from proxy.recipes.vllm.facts import VllmFacts
    from proxy.recipes.vllm.installed import InstalledVllm

_RECIPE: Final = "a file, or the name of a recipe that ships with the program"


def add_recipe(commands: Any) -> None:
    """Add `recipe` and its actions to the commands."""
    recipe = commands.add_parser("recipe", help="work on serving recipes")
    actions = recipe.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_check(actions)
    _add_show(actions)
    _add_diff(actions)
    _add_fit(actions)
    _add_up(actions)


def _add_check(actions: Any) -> None:
    check = actions.add_parser(
        "check",
        help="is anything wrong with these recipes?",
        description="Check recipes of version 1 (spark-vllm-docker) and 2 (sparkrun). Nothing in "
        "them is run. Exit code 0: no error, 1: errors found, 2: a file cannot be read.",
    )
    check.add_argument("files", nargs="+", metavar="RECIPE", help=_RECIPE)
    _add_set(check)
    check.add_argument(
        "--vllm",
        type=Path,
        metavar="PROGRAM",
        help="a vllm program, or the Python of its environment, whose parser is asked too "
        "(default: the one installed here, else a pinned list)",
    )
    check.add_argument(
        "--pinned", action="store_true", help="ask no installed vLLM, only the pinned list: quick"
    )
    check.add_argument("--strict", action="store_true", help="exit code 1 for warnings too")
    check.add_argument("--json", action="store_true", help="one JSON document")
    check.set_defaults(run=_check)


def _add_show(actions: Any) -> None:
    show = actions.add_parser(
        "show",
        help="what a recipe comes to",
        description="Show a recipe as a table of its switches, or as what it comes to.",
    )
    show.add_argument("recipe", metavar="RECIPE", help=_RECIPE)
    _add_set(show)
    form = show.add_mutually_exclusive_group()
    form.add_argument("--command", action="store_true", help="the command, quoted for a shell")
    form.add_argument("--env", action="store_true", help="the environment, quoted for a shell")
    form.add_argument("--docker", action="store_true", help="the command that runs its container")
    form.add_argument("--json", action="store_true", help="one JSON document")
    show.set_defaults(run=_show)


def _add_diff(actions: Any) -> None:
    diff = actions.add_parser(
        "diff",
        help="which switches differ, and what a comparison of two recipes can say",
        description="Compare two recipes switch by switch. Exit code 0, whatever differs.",
    )
    diff.add_argument("a", metavar="A", help=_RECIPE)
    diff.add_argument("b", metavar="B", help=_RECIPE)
    diff.add_argument("--json", action="store_true", help="one JSON document")
    diff.set_defaults(run=_diff)


def _add_fit(actions: Any) -> None:
    fit = actions.add_parser(
        "fit",
        help="what is known of a recipe on this machine",
        description="Compare this machine's GPU with the table of machines and the results on "
        "record; say what is evidence and what is transfer.",
    )
    fit.add_argument("recipe", metavar="RECIPE", help=_RECIPE)
    _add_set(fit)
    fit.add_argument(
        "--machine",
        metavar="KEY",
        help="a machine of the table instead of this one, e.g. dgx-spark",
    )
    fit.add_argument("--json", action="store_true", help="one JSON document")
    fit.set_defaults(run=_fit)


def _add_up(actions: Any) -> None:
    up = actions.add_parser(
        "up",
        help="start the engine of a recipe, and show its boot",
        description="Start vLLM with the recipe's argument list, in a process group of its own, "
        "show the boot, note its facts in the ledger, and stop it whole. No shell is used, and "
        "nothing else of the recipe is run.",
    )
    up.add_argument("recipe", metavar="RECIPE", help=_RECIPE)
    _add_set(up)
    up.add_argument(
        "--vllm",
        type=Path,
        metavar="PROGRAM",
        help="a vllm program, or the Python of its environment (default: the one installed here)",
    )
    up.add_argument(
        "--docker", action="store_true", help="only print the command that runs its container"
    )
    _add_life(up)
    up.add_argument("--log-folder", type=Path, metavar="DIR", help="where the engine's log goes")
    up.add_argument("--verbose", action="store_true", help="show the engine's own lines")
    _add_allowance(up)
    _add_front(up)
    up.set_defaults(run=_up)


def _add_life(up: argparse.ArgumentParser) -> None:
    """How long it may take to start and to end, and whether it starts again."""
    up.add_argument(
        "--restart", action="store_true", help="start it anew when it dies, with pauses"
    )
    up.add_argument(
        "--boot-seconds", type=_seconds, metavar="S", help="give up when it is not ready after S"
    )
    up.add_argument(
        "--stop-seconds",
        type=_seconds,
        default=20.0,
        metavar="S",
        help="time for a clean end before every process is killed (default: 20)",
    )


def _add_allowance(up: argparse.ArgumentParser) -> None:
    """What is refused unless the user wants it."""
    up.add_argument(
        "--ignore-mods", action="store_true", help="start although mods and hooks are not applied"
    )
    up.add_argument(
        "--allow-env",
        action="append",
        default=[],
        metavar="NAME",
        help="let the recipe set a variable that steers the loader or Python, such as LD_PRELOAD",
    )


def _add_front(up: argparse.ArgumentParser) -> None:
    front = up.add_argument_group("the gate before it")
    front.add_argument("--with-proxy", action="store_true", help="serve the gate before the engine")
    front.add_argument("--config", type=Path, metavar="FILE", help="settings file (as `serve`)")
    front.add_argument("--port", type=int, metavar="PORT", help="port of the OpenAI surface")
    front.add_argument("--admin-port", type=int, metavar="PORT", help="port of metrics and health")
    front.add_argument("--ledger", metavar="URL", help="the ledger, e.g. sqlite:///sluicegate.db")


def _add_set(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a placeholder of the recipe, or a flag of vLLM, e.g. --set max_num_seqs=8",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < math.inf:
        return seconds
    raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds above 0")


def _check(options: argparse.Namespace) -> int:
    from proxy.recipes.check.check import check_recipe
    from proxy.recipes.check.report import CheckedFile, exit_status, report_json, report_lines

    facts, installed, against = _known_vllm(options.vllm, pinned=options.pinned)
    checked = [
        CheckedFile(path, check_recipe(path, options.overrides, facts, installed))
        for path in map(_file, options.files)
    ]
    if options.json:
        print(report_json(checked, against))
    else:
        _print(report_lines(checked, against))
    return exit_status(checked, strict=options.strict)


def _known_vllm(
    named: Path | None, *, pinned: bool
) -> "tuple[VllmFacts, InstalledVllm | None, HeldAgainst]":
    """The vLLM whose flags count. One that was found but cannot be asked is said, and left out."""
    from proxy.recipes.check.report import HeldAgainst
    from proxy.recipes.vllm.facts import pinned_facts
    from proxy.recipes.vllm.installed import InstalledVllmError, find_vllm

    try:
        installed = None if pinned else find_vllm(named, os.environ)
        if installed is not None:
            facts = installed.facts()
            return facts, installed, HeldAgainst(facts.version, f"installed: {installed.python}")
    except InstalledVllmError as error:
        if named is not None:
            raise
        print(f"note: the vLLM found here is not asked: {error}", file=sys.stderr)
    facts = pinned_facts()
    return facts, None, HeldAgainst(facts.version, "pinned list")


def _show(options: argparse.Namespace) -> int:
    from proxy.recipes.show.show import ShowForm, show_file

    path = _file(options.recipe)
    if options.docker:
        return _docker(options)
    # Programs that split a command seldom know continued lines.
    command = ShowForm.COMMAND if sys.stdout.isatty() else ShowForm.COMMAND_LINE
    forms = {
        command: options.command,
        ShowForm.ENVIRONMENT: options.env,
        ShowForm.JSON: options.json,
    }
    form = next((form for form, chosen in forms.items() if chosen), ShowForm.TABLE)
    return _print(show_file(path, options.overrides, form))


def _docker(options: argparse.Namespace) -> int:
    from proxy.launch.container import shown_command

    return _print([shown_command(_open(options))])


def _diff(options: argparse.Namespace) -> int:
    from proxy.data_files import recipes_folder
    from proxy.recipes.compare.diff_report import diff_lines
    from proxy.recipes.evidence.evidence import read_evidence

    evidence = read_evidence(recipes_folder())
    a, b = _read(options.a), _read(options.b)
    return _print(diff_lines(a, b, as_json=options.json, evidence=evidence))


def _fit(options: argparse.Namespace) -> int:
    from proxy.data_files import recipes_folder
    from proxy.recipes.evidence.evidence import read_evidence
    from proxy.recipes.evidence.fit import fit
    from proxy.recipes.evidence.fit_report import fit_lines
    from proxy.recipes.evidence.local_gpu import Surroundings, look_around
    from proxy.recipes.evidence.subject import here, of_the_table

    evidence = read_evidence(recipes_folder())
    recipe = _read(options.recipe, options.overrides)
    if options.machine:
        subject = of_the_table(options.machine, evidence.hardware)
    else:
        around = Surroundings(os.environ, platform.machine())
        subject = here(look_around(around), evidence.hardware)
    found = fit(recipe, subject, evidence)
    return _print(fit_lines(found, evidence.hardware, as_json=options.json))


def _up(options: argparse.Namespace) -> int:
    if options.docker:
        return _docker(options)

    from proxy.launch.command import up
    from proxy.launch.options import UpOptions

    return up(
        _open(options),
        UpOptions(
            vllm=options.vllm,
            with_proxy=options.with_proxy,
            config=options.config,
            port=options.port,
            admin_port=options.admin_port,
            ledger_url=options.ledger,
            log_folder=options.log_folder,
            restart=options.restart,
            boot_seconds=options.boot_seconds,
            stop_seconds=options.stop_seconds,
            verbose=options.verbose,
            ignore_mods=options.ignore_mods,
            allow_env=tuple(options.allow_env),
        ),
    )


def _read(named: str, overrides: Sequence[str] = ()) -> "Recipe":
    from proxy.recipes.reading import read_recipe

    return read_recipe(_file(named), overrides)


def _open(options: argparse.Namespace) -> "Reading":
    """As far as it can be read: what is wrong is told with all else that is against a start."""
    from proxy.recipes.reading import open_recipe

    return open_recipe(_file(options.recipe), options.overrides)


def _file(named: str) -> Path:
    """A path; a bare name that is no file here is looked for among the shipped recipes."""
    from proxy.data_files import recipe_files, recipes_folder

    path = Path(named)
    if path.exists() or len(path.parts) != 1:
        return path
    shipped = {file.stem: file for file in recipe_files(recipes_folder())}
    return shipped.get(named.removesuffix(".yaml"), path)


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0
