"""What can be chosen for `recipe up`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_STOP_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What the user chose. `vllm` is a program or a Python, None: the one that is found.

    `boot_seconds` None: a boot takes as long as it takes; `stop_seconds` is for a clean end.
    `config`, `port`, `admin_port` and `ledger_url` override the proxy's settings; without
    `with_proxy` only the ledger of them counts.
    """

    vllm: Path | None = None
    with_proxy: bool = False
    config: Path | None = None
    port: int | None = None
    admin_port: int | None = None
    ledger_url: str | None = None
    log_folder: Path | None = None
    restart: bool = False
    boot_seconds: float | None = None
    stop_seconds: float = _STOP_SECONDS
    verbose: bool = False
    ignore_mods: bool = False
    allow_env: tuple[str, ...] = ()
