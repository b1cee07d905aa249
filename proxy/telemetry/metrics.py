"""All metrics of one proxy, by whom they are told: finished requests, engines, judges, losses.

Names, types and labels stand in the catalogue. Every label value is a member of a closed set and
every child exists from the start, so that the first failure is visible to `rate`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from prometheus_client import CollectorRegistry

from proxy.telemetry.collectors import Collectors
from proxy.telemetry.contract_metrics import ContractMetrics
from proxy.telemetry.engine_metrics import EngineMetrics
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.exposition import Form, render
from proxy.telemetry.histogram import trace_of
from proxy.telemetry.judge_metrics import JudgeMetrics
from proxy.telemetry.labels import GATE, REPAIR
from proxy.telemetry.latency_metrics import LatencyMetrics
from proxy.telemetry.metric import Metric
from proxy.telemetry.outcome import JudgeResult, ProbeResult, ReadyWait
from proxy.telemetry.own_metrics import OwnMetrics
from proxy.telemetry.process_metrics import ProcessFamilies
from proxy.telemetry.record import RequestRecord
from proxy.telemetry.request_metrics import RequestMetrics


class Metrics:
    """All metrics of one proxy, in the registry that is handed in.

    Requests and engines are told of on the event loop; losses by any thread.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        gates: Collection[str] = (),
        repairs: Collection[str] = (),
        slo_ttfr_seconds: float = 0.2,
    ) -> None:
        self.registry = registry
        collectors = Collectors(registry, {GATE: gates, REPAIR: repairs}, slo_ttfr_seconds)
        self._requests = RequestMetrics(collectors)
        self._latency = LatencyMetrics(collectors)
        self._contract = ContractMetrics(collectors)
        self._engines = EngineMetrics(collectors)
        self._judges = JudgeMetrics(collectors)
        self._own = OwnMetrics(collectors)
        registry.register(ProcessFamilies())

    def add(self, record: RequestRecord) -> None:
        """Count a finished request; its id is the exemplar of what it measured."""
        trace = trace_of(record.id, record.received_at + record.duration_seconds)
        self._requests.add(record, trace)
        self._latency.add(record, trace)
        self._contract.add(record, trace)

    def watch_load(self, in_flight: Callable[[], int], queue_depth: Callable[[], int]) -> None:
        """Gauges that are read when a page is rendered."""
        self._requests.watch(in_flight, queue_depth)

    def watch_engine(
        self,
        lane: str,
        states: Collection[str],
        state: Callable[[], str],
        source: Callable[[], str],
    ) -> None:
        """Show a lane's engine: 1 for its present state and source of starts, 0 for the others."""
        self._engines.watch(lane, states, state, source)

    def watch_recipe(
        self, lane: str, switches: Collection[str], contradicted: Callable[[], Collection[str]]
    ) -> None:
        """Show which switches of a lane's recipe its engine contradicts; without one no series."""
        self._engines.watch_recipe(lane, switches, contradicted)

    def watch_ready(self, lane: str, waiting: Callable[[], int]) -> None:
        """Show how many requests wait for a lane's engine, and count its probe from the start."""
        self._engines.watch_ready(lane, waiting)

    def watch_ledger(self, works: Callable[[], bool]) -> None:
        """Show whether the ledger works; without a ledger there is no such series."""
        self._own.watch_ledger(works)

    def info(self, metric: Metric, rows: Sequence[Mapping[str, str]]) -> None:
        """A gauge of constant 1 whose labels say what runs; without rows there is none."""
        self._own.info(metric, rows)

    def start(self, record: EngineStartRecord) -> None:
        """Count an engine start once: when its first answer is judged, or when it is over.

        One that comes with its first answer was counted by an earlier run of the proxy.
        """
        self._engines.start(record)

    def probe(self, lane: str, result: ProbeResult, tokens: int) -> None:
        """Count one request of a lane's probe; its tokens are nobody's output."""
        self._engines.probe(lane, result, tokens)

    def ready_wait(self, result: ReadyWait) -> None:
        self._engines.ready_wait(result)

    def judge_call(
        self, result: JudgeResult, seconds: float, prompt_tokens: int, output_tokens: int
    ) -> None:
        """Count one call of a judge lane; its tokens are in no other metric."""
        self._judges.call(result, seconds, prompt_tokens, output_tokens)

    def hints_cleared(self, count: int) -> None:
        self._judges.hints_cleared(count)

    def log_dropped(self) -> None:
        self._own.log_dropped()

    def records_failed(self, count: int) -> None:
        self._own.records_failed(count)

    def ledger_dropped(self, count: int) -> None:
        self._own.ledger_dropped(count)

    def page(self, form: Form = Form.TEXT) -> bytes:
        """The page for a scrape. Takes milliseconds: call it in a thread."""
        return render(self.registry, form)
