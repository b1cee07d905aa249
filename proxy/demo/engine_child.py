"""The embedded engine as a process of its own: `python -m proxy.demo.engine_child MODEL PORT`.

llama.cpp's server on loopback, with one model. It ends with its parent, however that one ends.
"""

import ctypes
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Final, NoReturn

_HOST: Final = "127.0.0.1"
_CONTEXT_TOKENS: Final = 2048
# Measured on 2 cores: one thread gives 80 tokens a second however busy the machine is; two give
# 105 on a quiet one and 5 to 10 when proxy and client want a core as well.
_THREADS: Final = 1
_ERRORS_ONLY: Final = 1
_PR_SET_PDEATHSIG: Final = 1


def die_with_parent(stdin: int) -> None:
    """End this process when the parent does, and at once on SIGINT or SIGTERM.

    `stdin` is the descriptor of a pipe whose other end only the parent holds: its end of file is
    the portable sign. On Linux the kernel also kills, which works while C++ code holds the
    interpreter lock.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_exit_at_end_of, args=(stdin,), daemon=True).start()


def _exit_at_end_of(stdin: int) -> NoReturn:
    while os.read(stdin, 1024):
        pass
    os._exit(0)


def serve(model: Path, port: int) -> NoReturn:
    """Load the model and answer until killed. Raises `RuntimeError` when either is impossible."""
    import xllamacpp  # noqa: PLC0415 - an optional extra; the watch above needs none of it

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.name.partition(".")[0]}
    params.hostnames = [_HOST]
    params.port = port
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = _THREADS
    params.cpuparams_batch.n_threads = _THREADS
    params.endpoint_metrics = True
    params.endpoint_slots = False
    params.ui = False
    params.fit_params = False
    params.cache_idle_slots = False
    params.cache_ram_mib = 0
    params.verbosity = _ERRORS_ONLY
    server = xllamacpp.Server(params)
    threading.Event().wait()
    raise AssertionError(server)


def main() -> NoReturn:
    """Read MODEL and PORT from the command line and serve."""
    model, port = sys.argv[1:]
    die_with_parent(sys.stdin.fileno())
    serve(Path(model), int(port))


if __name__ == "__main__":
    main()
