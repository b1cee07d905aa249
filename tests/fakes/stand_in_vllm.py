"""Run as `vllm serve …`: like vLLM in what a launcher sees of it, without a model.

What it does beyond serving stands as JSON in the variable STAND_IN, see `tests.fakes.launch`.
"""

import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

ORPHAN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"


def main() -> None:
    does = json.loads(os.environ.get("STAND_IN", "{}"))
    if told := does.get("tells"):
        seen = {"arguments": sys.argv[1:], "environment": dict(os.environ)}
        pathlib.Path(told).write_text(json.dumps(seen))
    if does.get("ends"):
        return
    if does.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    subprocess.Popen([sys.executable, "-c", ORPHAN, "VLLM::EngineCore"])
    if log := does.get("log"):
        sys.stdout.write(pathlib.Path(log).read_text())
        sys.stdout.flush()
    if does.get("hangs"):
        time.sleep(300)
    if "dies" in does:
        die(does["dies"])
    serve(does)


def serve(does: dict[str, object]) -> None:
    pages = {
        "/health": b"",
        "/version": b'{"version": "0.32.0"}',
        "/v1/models": b'{"data": [{"id": "tiny", "max_model_len": 2048}]}',
        "/metrics": str(does.get("metrics", "")).encode(),
    }

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("content-length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_request(self, *_: object) -> None: ...  # type: ignore[explicit-override]

    port = int(sys.argv[sys.argv.index("--port") + 1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers)
    if "dies_ready" in does:
        threading.Thread(target=wait_and_die, args=(does,), daemon=True).start()
    server.serve_forever()


def wait_and_die(does: dict[str, object]) -> None:
    """Once the file that it waits for is there."""
    sign = pathlib.Path(str(does["once"]))
    while not sign.exists():
        time.sleep(0.01)
    die(does["dies_ready"])


def die(status: object) -> None:
    """With a status, or by a signal where it is negative."""
    number = int(str(status))
    if number < 0:
        os.kill(os.getpid(), -number)
    os._exit(number)


main()
