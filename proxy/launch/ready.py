"""An engine that became ready: what it is, told to the user and written into the ledger."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxy.launch.address import EngineAddress
from proxy.launch.display import Display
from proxy.launch.engine_log import EngineLog
from proxy.launch.engine_view import EngineView
from proxy.launch.front import Front
from proxy.launch.start_store import store, with_boot_facts
from proxy.ledger.address import LedgerAddress
from proxy.ledger.trouble import LedgerTrouble
from proxy.recipes.lane.expectations import contradictions
from proxy.recipes.recipe import Recipe
from proxy.telemetry.engine_start import EngineStartRecord

_SHOWN: Final = {
    "model": "model",
    "vllm": "vLLM",
    "torch": "torch",
    "attention_backend": "attention",
    "speculative_config": "speculation",
    "kv_cache_tokens": "KV tokens",
    "max_concurrency": "concurrency",
    "model_gib": "model GiB",
    "load_seconds": "load s",
}
_SAME_LAYER: Final = (
    "vLLM runs the same MTP layer for each of several draft tokens: acceptance may be lower"
)


@dataclass(frozen=True, slots=True)
class ReadyReport:
    """One launch's. `python` is that of the vLLM, `ledger` None: there is none."""

    recipe: Recipe
    python: Path
    address: EngineAddress
    ledger: LedgerAddress | None
    display: Display
    front: Front | None

    async def __call__(self, log: EngineLog, view: EngineView) -> None:
        facts = {**log.boot.facts, **_torch(self.python)}
        record = await view.start_record()
        if record is not None:
            record = with_boot_facts(record, self.recipe, facts)
        self._show(log, facts if record is None else record.facts)
        self.display.row("ledger", await self._stored(record))
        self.display.good("Ctrl-C stops it.")

    def _show(self, log: EngineLog, facts: Mapping[str, str]) -> None:
        self.display.good(f"Ready after {log.seconds:.1f} s: {self.address.url}/v1")
        rows = [(label, facts[name]) for name, label in _SHOWN.items() if name in facts]
        self.display.rows(rows)
        for each in contradictions(self.recipe, facts):
            self.display.note(each.line)
        if log.boot.same_mtp_layer:
            self.display.note(_SAME_LAYER)
        self.display.row("log", str(log.path))
        if self.front:
            self.display.row("base_url", self.front.base_url)
            self.display.row("metrics", f"{self.front.admin_url}/metrics")

    async def _stored(self, record: EngineStartRecord | None) -> str:
        if self.ledger is None:
            return "none: the settings switch it off"
        if record is None:
            return "nothing stored: the engine's metrics do not tell one start from another"
        try:
            await asyncio.to_thread(store, record, self.ledger)
        except LedgerTrouble as trouble:
            return f"not written: {trouble}"
        return f"{self.ledger.shown} (engine start {record.key})"


def _torch(python: Path) -> dict[str, str]:
    """The version of torch beside a Python, which names its CUDA too; from the disk alone."""
    for found in sorted(python.parent.parent.glob("lib/python3*/site-packages/torch-*.dist-info")):
        return {"torch": found.name.removeprefix("torch-").removesuffix(".dist-info")}
    return {}
