"""Builds the program from its settings: the only place where all parts meet."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TextIO

from prometheus_client import CollectorRegistry

from proxy import __version__
from proxy.contract.admission import Admission
from proxy.contract.claim_judges import ClaimJudges, JudgeCall, JudgeLane
from proxy.contract.clock import Clock, SystemClock
from proxy.contract.job import Limits, Parts
from proxy.contract.judge_process import JudgeProcess
from proxy.contract.judging import Judge
from proxy.contract.policy_file import load_policies
from proxy.contract.policy_set import PolicySet
from proxy.contract.probe import Probe
from proxy.contract.questions import UpstreamAnswers
from proxy.contract.readiness import EngineReadiness, WaitBounds
from proxy.contract.second_look import SecondLook
from proxy.contract.served_model import ServedModel
from proxy.gates.base import Repair
from proxy.gates.registry import gate_kinds
from proxy.keys import KeyRing
from proxy.ledger.ledger import Ledger
from proxy.recipes.lane.expectations import ShownSwitch
from proxy.recipes.lane.first_response import why_default_may_not_fit
from proxy.recipes.lane.labels import recipe_labels
from proxy.recipes.lane.watch import RecipeWatch
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from proxy.routes.asgi import Application
from proxy.routes.later import HealthyApp, LaterApp
from proxy.routes.openai import Door, Gateway
from proxy.routes.public import PublicApp
from proxy.routes.shown import Shown
from proxy.settings import Provider, Settings, Unjudged, Usage
from proxy.telemetry.engine_start import StartSink
from proxy.telemetry.log import RequestLog
from proxy.telemetry.metrics import Metrics
from proxy.telemetry.own_metrics import BUILD_INFO, POLICY_INFO, RECIPE_INFO
from proxy.telemetry.record import RecentRequests
from proxy.telemetry.recorder import Recorder
from proxy.telemetry.start_sinks import StartSinks
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.direct import DirectLane
from proxy.upstream.engine import Engine, EngineState
from proxy.upstream.lane import Lane
from proxy.upstream.litellm import LitellmLane
from proxy.upstream.poller import EnginePoller

_LOG: Final = logging.getLogger(__name__)
MAIN: Final = "main"

# vLLM's own default of max_num_seqs, for lanes whose recipe is not known.
_DEFAULT_CONCURRENT: Final = 256

LaneWrap = Callable[[Lane], Lane]


@dataclass(frozen=True, slots=True)
class App:
    """A built proxy: two ASGI applications and what runs behind them."""

    settings: Settings
    public: PublicApp
    admin: HealthyApp
    gateway: Gateway
    engine: Engine
    policies: PolicySet
    recipe: Recipe | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the program takes from outside, so that a test can hand in its own.

    `wrap_lane` puts something around the main lane: the demo's labelled fault does.
    `judge_process`: one that is shared; None makes one of the proxy's own. `recipe` is what the
    main lane's engine was started from, and counts before the one that the settings name.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    log: TextIO = field(default_factory=lambda: sys.stdout)
    clock: Clock = field(default_factory=SystemClock)
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    wrap_lane: LaneWrap = lambda lane: lane
    judge_process: JudgeProcess | None = None
    recipe: Recipe | None = None


@asynccontextmanager
async def open_app(settings: Settings, around: Surroundings) -> AsyncIterator[App]:
    """Build the proxy, look at its engine once, and poll it until the block ends.

    Raises `ConfigError` with every problem of policies, keys and recipe.
    """
    recipe = around.recipe or _recipe(settings)
    _doubt_default_slo(settings, recipe)
    policies = load_policies(
        settings.policies.folder,
        settings.policies.order,
        settings.policies.by_header,
        gate_kinds(),
        settings.lanes,
    )
    keys = KeyRing.load(settings.keys.file) if settings.keys.file else None
    metrics = _metrics(settings, policies, recipe, around.registry)
    async with AsyncExitStack() as stack:
        lane = around.wrap_lane(_lane(settings, MAIN, around.environ))
        stack.push_async_callback(lane.close)
        ledger = _ledger(settings, policies, metrics, stack)
        log = RequestLog(around.log, metrics.log_dropped)
        stack.callback(log.close)
        recent = RecentRequests()
        process = around.judge_process
        if process is None:
            process = JudgeProcess()
            stack.callback(process.close)
            process.start()
        starts = StartSinks((metrics, ledger) if ledger else (metrics,))
        watch = _watch(recipe, starts, metrics)
        engine = await _engine(watch or starts, metrics, around.clock, ledger)
        others = _judge_lanes(settings, policies, around.environ, stack)
        judges = _judges({MAIN: JudgeLane(lane), **others}, around.clock, metrics)
        poller = EnginePoller(
            lane,
            engine,
            poll_seconds=settings.engine.poll_seconds,
            timeout_seconds=settings.engine.timeout_seconds,
        )
        parts = Parts(
            lane=lane,
            engine=engine,
            limits=Limits(settings.limits.event_bytes, settings.limits.reply_bytes),
            clock=around.clock,
            judge=Judge(
                around.clock.now, process, UpstreamAnswers(lane, judges), metrics.hints_cleared
            ),
            inject_usage=settings.usage is Usage.INJECT,
            observe=settings.observe,
            recipe_model=recipe.model if recipe else "",
            expected=_expected(recipe),
        )
        readiness = _readiness(settings, parts, poller, metrics)
        parts = replace(parts, readiness=readiness)
        door = _door(settings, policies, keys, recipe)
        sinks = (metrics, recent, log) if ledger is None else (metrics, recent, log, ledger)
        recorder = Recorder(sinks, metrics.records_failed)
        stack.callback(recorder.flush)
        gateway = Gateway(door, parts, recorder)
        metrics.watch_load(lambda: gateway.in_flight, lambda: door.admission.depth)
        shown = Shown(
            metrics=metrics,
            recent=recent,
            catch_up=recorder.flush,
            engines={MAIN: engine},
            readiness={MAIN: readiness},
            recipes={MAIN: watch},
            slo=settings.slo,
            is_draining=lambda: gateway.draining,
            token=_secret(settings.admin.token_env, around.environ),
        )
        health = json.dumps({"status": "ok", "version": __version__}).encode()
        admin = HealthyApp(health, LaterApp(lambda: _admin(shown)))
        await poller.look()
        looking = poller.run() if readiness is None else readiness.run()
        stack.push_async_callback(_stop, asyncio.create_task(looking))
        yield App(settings, PublicApp(gateway), admin, gateway, engine, policies, recipe)


def _admin(shown: Shown) -> Application:
    from proxy.routes.admin import build_admin  # noqa: PLC0415 - FastAPI is large: see LaterApp

    return build_admin(shown)


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def _readiness(
    settings: Settings, parts: Parts, poller: EnginePoller, metrics: Metrics
) -> EngineReadiness | None:
    """What keeps requests back while the engine is away or probed; None: nothing ever does."""
    lane = settings.lanes[MAIN]
    if lane.probe is None and not lane.wait_seconds:
        metrics.watch_ready(MAIN, lambda: 0)
        return None
    probe = None
    if lane.probe is not None:
        probe = Probe(
            parts,
            lane.probe.value(),
            lambda answer: metrics.probe(MAIN, answer.result, answer.tokens),
        )
    bounds = WaitBounds(lane.wait_seconds, settings.admission.queue, settings.engine.poll_seconds)
    looks = SecondLook(poller, parts.lane, parts.engine, settings.engine.timeout_seconds)
    readiness = EngineReadiness(parts.engine, looks, bounds, metrics.ready_wait, probe)
    metrics.watch_ready(MAIN, lambda: readiness.waiting)
    return readiness


def _recipe(settings: Settings) -> Recipe | None:
    path = settings.lanes[MAIN].recipe
    return None if path is None else read_recipe(path)


def _ledger(
    settings: Settings, policies: PolicySet, metrics: Metrics, stack: AsyncExitStack
) -> Ledger | None:
    """The ledger, opened by its own thread; closed when what fills it has ended."""
    address = settings.ledger.address
    if address is None:
        return None
    levels = {policy.label: policy.record for policy in policies.policies}
    ledger = Ledger(address, levels=levels, lanes=(MAIN,), on_drop=metrics.ledger_dropped)
    stack.push_async_callback(asyncio.to_thread, ledger.close)
    metrics.watch_ledger(lambda: ledger.works)
    return ledger


def _expected(recipe: Recipe | None) -> ServedModel:
    """The main lane's model as clients ask for it."""
    if recipe is None:
        return ServedModel()
    engine = recipe.engine
    return ServedModel((*engine.served_names, recipe.model)[0], engine.max_model_len)


def _doubt_default_slo(settings: Settings, recipe: Recipe | None) -> None:
    """Say it where nobody chose the objective and it was measured for another recipe."""
    if recipe is None or "ttfr_seconds" in settings.slo.model_fields_set:
        return
    if reason := why_default_may_not_fit(recipe):
        default = settings.slo.ttfr_seconds
        _LOG.info("slo.ttfr_seconds is left at its default of %g s, but %s", default, reason)


def _watch(recipe: Recipe | None, starts: StartSink, metrics: Metrics) -> RecipeWatch | None:
    """What stands before who hears of engine starts, where the main lane has a recipe."""
    if recipe is None:
        return None
    watch = RecipeWatch(recipe, starts)
    metrics.watch_recipe(MAIN, tuple(ShownSwitch), lambda: watch.switches)
    return watch


async def _engine(
    starts: StartSink, metrics: Metrics, clock: Clock, ledger: Ledger | None
) -> Engine:
    """The main lane's engine; `starts` hears of its starts."""
    remembered = await ledger.remembered(MAIN) if ledger else {}
    engine = Engine(MAIN, starts, clock.unix, remembered)
    metrics.watch_engine(
        MAIN, tuple(EngineState), state=lambda: engine.state, source=lambda: engine.source
    )
    return engine


def _judge_lanes(
    settings: Settings, policies: PolicySet, environ: Mapping[str, str], stack: AsyncExitStack
) -> dict[str, JudgeLane]:
    """The lanes beside the main one that policies have judge, each ready to be asked."""
    rules = (rule for policy in policies.policies for rule in policy.rules)
    lanes = {}
    for name in sorted({rule.judge_lane for rule in rules} - {"", MAIN}):
        lane = _lane(settings, name, environ)
        stack.push_async_callback(lane.close)
        lanes[name] = JudgeLane(lane, settings.lanes[name].model or "")
        if isinstance(lane, LitellmLane):
            stack.push_async_callback(_stop, asyncio.create_task(lane.prepare()))
    return lanes


def _judges(lanes: Mapping[str, JudgeLane], clock: Clock, metrics: Metrics) -> ClaimJudges:
    def count(call: JudgeCall) -> None:
        metrics.judge_call(call.result, call.seconds, call.prompt_tokens, call.output_tokens)

    return ClaimJudges(lanes, clock.now, count)


def _lane(settings: Settings, name: str, environ: Mapping[str, str]) -> Lane:
    lane, limits = settings.lanes[name], settings.limits
    timeouts = Timeouts(limits.connect_seconds, limits.reply_seconds, limits.idle_seconds)
    key = _secret(lane.key_env, environ)
    if lane.provider is Provider.LITELLM:
        return LitellmLane(
            name,
            lane.model or "",
            api_base=lane.url,
            key=key,
            timeouts=timeouts,
            trust_env=settings.trust_env,
        )
    url, ca_file = lane.url or "", lane.ca_file
    if settings.trust_env:
        from proxy.upstream.forward_proxy import ForwardProxyLane  # noqa: PLC0415 - aiohttp is large

        return ForwardProxyLane(name, url, timeouts, key=key, ca_file=ca_file)
    return DirectLane(name, url, timeouts, key=key, ca_file=ca_file)


def _door(
    settings: Settings, policies: PolicySet, keys: KeyRing | None, recipe: Recipe | None
) -> Door:
    admission = settings.admission
    concurrent = admission.concurrent or (recipe.engine.max_num_seqs if recipe else None)
    return Door(
        policies=policies,
        admission=Admission(
            concurrent or _DEFAULT_CONCURRENT, admission.queue, admission.wait_seconds
        ),
        open_admission=Admission(_DEFAULT_CONCURRENT, admission.queue, admission.wait_seconds),
        keys=keys,
        request_bytes=settings.limits.request_bytes,
        body_seconds=settings.limits.body_seconds,
        write_seconds=settings.limits.write_seconds,
        refuse_unjudged=settings.unjudged is Unjudged.REFUSE,
    )


def _metrics(
    settings: Settings,
    policies: PolicySet,
    recipe: Recipe | None,
    registry: CollectorRegistry,
) -> Metrics:
    gates = sorted({rule.gate.name for policy in policies.policies for rule in policy.rules})
    metrics = Metrics(
        registry, gates=gates, repairs=tuple(Repair), slo_ttfr_seconds=settings.slo.ttfr_seconds
    )
    metrics.info(BUILD_INFO, [{"version": __version__}])
    metrics.info(
        POLICY_INFO,
        [{"policy": policy.name, "hash": policy.hash} for policy in policies.policies],
    )
    if recipe is not None:
        row = recipe_labels(recipe, MAIN)
        metrics.info(RECIPE_INFO, [row])
    return metrics


def _secret(name: str | None, environ: Mapping[str, str]) -> str | None:
    return environ[name] if name else None
