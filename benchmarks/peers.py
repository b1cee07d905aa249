"""The contenders: how each is started.

A new one is a function that returns a `Launch`, and a line in `PEERS`.
"""

import getpass
import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import contents
from asks import Ask
from installation import NotInstalled, litellm_python, nginx_program, portkey_script
from processes import HERE, free_port


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start. No command: nothing is started and `url` is there already.

    `headers` are those that every request to it must carry.
    """

    url: str
    command: tuple[str, ...] = ()
    health_url: str = ""
    metrics_url: str = ""
    headers: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Peer:
    """One contender. `modules` are those whose import makes up most of its start; `measures` the
    names of those that fit it, none named: all. `note` explains errors that are known.
    """

    name: str
    title: str
    launch: Callable[[str, Path], Launch]
    modules: tuple[str, ...] = ()
    python: Callable[[], Path] = field(default=lambda: Path(sys.executable))
    ask: Ask = Ask.PLAIN
    measures: tuple[str, ...] = ()
    note: str = ""


def direct(upstream: str, folder: Path) -> Launch:  # noqa: ARG001 -- every peer is launched alike
    return Launch(url=upstream)


def nginx(upstream: str, folder: Path) -> Launch:
    """One worker, no access log, kept connections on both sides, nothing buffered."""
    port = free_port()
    file = folder / "nginx.conf"
    for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
        (folder / name).mkdir(exist_ok=True)
    file.write_text(
        _NGINX % {"user": getpass.getuser(), "port": port, "upstream": _place(upstream)}
    )
    url = f"http://127.0.0.1:{port}"
    command = (str(nginx_program()), "-p", str(folder), "-c", str(file))
    return Launch(url=url, command=command, health_url=f"{url}/health")


def relay(upstream: str, folder: Path) -> Launch:  # noqa: ARG001 -- it writes no files
    port = free_port()
    script = str(HERE / "relay.py")
    command = (sys.executable, script, "--port", str(port), "--upstream", upstream)
    url = f"http://127.0.0.1:{port}"
    return Launch(url=url, command=command, health_url=f"{url}/health")


def sluicegate(upstream: str, folder: Path) -> Launch:
    """With the production policy of this repository."""
    return configured(sluicegate_command(), upstream, folder)


def sluicegate_command() -> tuple[str, ...]:
    """The command as a user starts it. Raises `NotInstalled`."""
    beside_python = Path(sys.executable).with_name("sluicegate")
    program = str(beside_python) if beside_python.exists() else shutil.which("sluicegate")
    if program is None:
        raise NotInstalled("the command `sluicegate` is not installed")
    return (program, "serve")


def configured(
    command: Sequence[str],
    upstream: str,
    folder: Path,
    policies: Path = HERE.parent / "policies",
    order: Sequence[str] = ("production",),
) -> Launch:
    """A command that runs the proxy and takes its settings by `--config`."""
    port, admin_port = free_port(), free_port()
    settings = {
        "listen": {"host": "127.0.0.1", "port": port},
        "admin": {"host": "127.0.0.1", "port": admin_port},
        "lanes": {"main": {"url": upstream}},
        "policies": {"folder": str(policies), "order": list(order)},
        "admission": {"concurrent": 256, "queue": 1024, "wait_seconds": 30},
    }
    file = folder / f"sluicegate-{port}.yaml"
    file.write_text(json.dumps(settings))  # JSON is YAML too
    admin = f"http://127.0.0.1:{admin_port}"
    return Launch(
        url=f"http://127.0.0.1:{port}",
        command=(*command, "--config", str(file)),
        health_url=f"{admin}/health",
        metrics_url=f"{admin}/metrics",
    )


def litellm(upstream: str, folder: Path) -> Launch:
    """LiteLLM's proxy with one worker and no database; it has no metrics page without add-ons."""
    port = free_port()
    served = {"model": f"openai/{contents.MODEL}", "api_base": f"{upstream}/v1", "api_key": "none"}
    file = folder / "litellm.yaml"
    models = [{"model_name": contents.MODEL, "litellm_params": served}]
    file.write_text(json.dumps({"model_list": models}))  # JSON is YAML too
    program = str(litellm_python().with_name("litellm"))
    url = f"http://127.0.0.1:{port}"
    where = ("--config", str(file), "--host", "127.0.0.1", "--port", str(port))
    return Launch(
        url=url,
        command=(program, *where, "--num_workers", "1"),
        health_url=f"{url}/health/liveliness",
        # Without the first it refuses to start without a key, with the second it fetches nothing.
        environment={
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


def portkey(upstream: str, folder: Path) -> Launch:  # noqa: ARG001 -- it writes no files
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    return Launch(
        url=url,
        command=("node", str(portkey_script()), f"--port={port}", "--headless"),
        health_url=f"{url}/",
        headers=(
            "authorization: Bearer none",
            "x-portkey-provider: openai",
            f"x-portkey-custom-host: {upstream}/v1",
        ),
    )


_OURS = ("proxy.cli", "proxy.app")
_RELAYS = ("aiohttp", "uvicorn", "uvloop", "httptools")

PEERS = (
    Peer("direct", "no proxy", direct),
    Peer("nginx", "nginx", nginx),
    Peer("relay", "bare relay", relay, _RELAYS),
    Peer("pass", "Sluicegate, pass", sluicegate, _OURS),
    Peer(
        "strict",
        "Sluicegate, strict JSON",
        sluicegate,
        ask=Ask.STRICT,
        measures=("json_1", "json_16", "stream_16"),
    ),
    Peer(
        "window",
        "Sluicegate, window",
        sluicegate,
        ask=Ask.OFFERED,
        measures=("stream_16", "paced_32"),
    ),
    Peer(
        "calls",
        "Sluicegate, tool calls",
        sluicegate,
        ask=Ask.CALL,
        measures=("json_1", "json_16", "stream_16"),
    ),
    Peer("litellm", "LiteLLM's proxy", litellm, ("litellm.proxy.proxy_server",), litellm_python),
    Peer(
        "portkey",
        "Portkey's gateway",
        portkey,
        # One measure of streams is enough to see that there are none.
        measures=("json_1", "json_16", "stream_16"),
        note="1.15.2 answers every stream with 500 on Node.js 20, as it appends to headers that "
        "are immutable there; its whole replies are compared",
    ),
)


def _place(url: str) -> str:
    return urlsplit(url).netloc


_NGINX = """
daemon off;
user %(user)s;
worker_processes 1;
pid nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    upstream engine {
        server %(upstream)s;
        keepalive 256;
        keepalive_requests 100000000;
    }
    server {
        listen 127.0.0.1:%(port)s;
        keepalive_requests 100000000;
        location / {
            proxy_pass http://engine;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
        }
    }
}
"""
