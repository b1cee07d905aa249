"""What the admin listener shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proxy.contract.readiness import EngineReadiness
from proxy.recipes.lane.watch import RecipeWatch
from proxy.settings import Slo
from proxy.telemetry.metrics import Metrics
from proxy.telemetry.record import RecentRequests
from proxy.upstream.engine import Engine


@dataclass(frozen=True, slots=True)
class Shown:
    """What the admin listener shows. `token`: asked for by metrics and look-up; None: open.

    `catch_up` records what has just ended, so that it is shown too. `readiness` of a lane is None
    where its requests never wait, `recipes` where the settings name no recipe.
    """

    metrics: Metrics
    recent: RecentRequests
    catch_up: Callable[[], None]
    engines: Mapping[str, Engine]
    readiness: Mapping[str, EngineReadiness | None]
    recipes: Mapping[str, RecipeWatch | None]
    slo: Slo
    is_draining: Callable[[], bool]
    token: str | None
