"""The proxy's own process: since when it runs, its memory, its open files."""

from typing import Final

from grafana.generator.panels import Json, Query, curves
from grafana.generator.promql import age, gate, process, total

_NO_PROCESS: Final = "no proxy, or not on Linux"


def own_process() -> list[Json]:
    """What tells a restart, a leak of memory and one of connections."""
    return [
        curves(
            "Time since the proxy was started",
            "Falls to zero at each start. One that nobody asked for: its stderr, and the service "
            "manager's log.",
            [_of_proxies(age())],
            "s",
            no_value=_NO_PROCESS,
        ),
        curves(
            "Memory of the proxy",
            "Resident; the judging process is not in it. One that climbs for days: restart it, and "
            "report it with this curve.",
            [_of_proxies(process("resident_memory_bytes"))],
            "bytes",
            no_value=_NO_PROCESS,
        ),
        curves(
            "Open files of the proxy",
            "Connections included. Near the limit of the service (LimitNOFILE): raise it, or lower "
            "admission.queue.",
            [_of_proxies(process("open_fds"))],
            "none",
            no_value=_NO_PROCESS,
        ),
    ]


def _of_proxies(expression: str) -> Query:
    """Other programs have processes too, and with "All" chosen every job matches."""
    ours = f"{expression} and on (job, instance) {gate('build_info')}"
    return Query(total(ours, "instance"), "{{instance}}")
