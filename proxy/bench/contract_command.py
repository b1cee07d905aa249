"""`sluicegate bench contract`: a contract set before and behind the gates, on a server of yours."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from proxy.bench.contract_cases import ContractCase, read_cases
from proxy.bench.contract_reading import AnswerReader
from proxy.bench.contract_report import ContractReport
from proxy.bench.contract_run import ContractRun, Trial
from proxy.bench.contract_server import ContractServer, UnusableServer
from proxy.bench.progress import Progress
from proxy.contract.in_process import InProcessGate, full_kinds
from proxy.contract.policy import Policy
from proxy.contract.policy_file import load_policy
from proxy.contract.section import CheckFailed
from proxy.data_files import policies_folder
from proxy.errors import Place, Problem, SettingsError
from proxy.gates.registry import gate_kinds
from proxy.lane_url import read_lane_url
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.direct import DirectLane

LANE: Final = "main"
_TIMEOUTS: Final = Timeouts(connect_seconds=5, reply_seconds=300, idle_seconds=120)


@dataclass(frozen=True, slots=True)
class ContractOptions:
    """What is measured, and on which server. None: the shipped policy, the shipped cases."""

    base_url: str
    runs: int
    model: str | None = None
    key: str | None = None
    policy: Path | None = None
    cases: Path | None = None


class ContractBench:
    """One measurement. Whatever becomes of it, `report` tells what is there."""

    def __init__(self, options: ContractOptions, err: TextIO) -> None:
        """Raises `ConfigError` for a wrong address, policy or set of cases."""
        shipped = policies_folder()
        self._options = options
        self._url = _url(options.base_url)
        self._err = err
        self._policy: Policy = load_policy(
            options.policy or shipped / "editorial-de.yaml", full_kinds(gate_kinds())
        )
        self._cases: list[ContractCase] = read_cases(
            options.cases or shipped / "fixtures" / "contract-de"
        )
        self._trials: list[Trial] = []
        self._model = options.model or ""
        self._ended = ""

    @property
    def has_ended_early(self) -> bool:
        return bool(self._ended)

    async def run(self) -> None:
        """Measure until done. Raises `UnusableServer` where not one answer came.

        One that fails later is told in the report. May be cancelled at any time.
        """
        options = self._options
        lane = DirectLane(LANE, self._url, _TIMEOUTS, key=options.key)
        progress = Progress(self._err, len(self._cases) * options.runs)
        server = ContractServer(self._url, self._policy.name, key=options.key)
        self._ended = "It was interrupted."
        try:
            self._model = await server.model(options.model)
            run = ContractRun(
                server,
                lane,
                InProcessGate(self._policy),
                AnswerReader([rule.fallback_text for rule in self._policy.rules]),
                self._model,
                lambda trial: progress.step(f"{trial.case.name}, run {trial.run}"),
                self._trials,
            )
            await run.run(self._cases, options.runs)
            self._ended = ""
        except UnusableServer as error:
            if not self._has_answers:
                raise
            self._ended = str(error)
        finally:
            progress.finish()
            await server.close()
            await lane.close()

    @property
    def report(self) -> ContractReport:
        return ContractReport(
            self._model,
            self._policy.label,
            len(self._cases),
            self._options.runs,
            self._trials,
            self._ended,
        )

    @property
    def _has_answers(self) -> bool:
        return any(trial.after.attempts or trial.before for trial in self._trials)


def measure(bench: ContractBench) -> bool:
    """Run to the end or to Ctrl-C; whether it was interrupted."""
    try:
        asyncio.run(bench.run())
    except KeyboardInterrupt:
        return True
    return False


def key_from(environ: Mapping[str, str], name: str | None) -> str | None:
    """The key that a variable holds. Raises `SettingsError` where it holds none."""
    if name is None:
        return None
    if not environ.get(name):
        place = Place("--api-key-env")
        raise SettingsError([Problem(place, f"the variable {name} is not set", "set it")])
    return environ[name]


def _url(text: str) -> str:
    try:
        return read_lane_url(text).removesuffix("/v1")
    except CheckFailed as error:
        problem = Problem(Place("--base-url"), f"`{text}` {error}", error.remedy)
        raise SettingsError([problem]) from error
