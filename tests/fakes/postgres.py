"""A real PostgreSQL server of a test's own, in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "s3cret-p4ss"
# initdb and postgres refuse to run as root.
_OTHER_USER: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}


@dataclass(frozen=True)
class Postgres:
    """A server that can be stopped and started again on the same port."""

    programs: Path
    folder: Path
    port: int

    def start(self) -> None:
        self._run("start", "-w", "-l", str(self.folder / "log"), "-o", self._options())

    def stop(self) -> None:
        """At once, as a crash does it."""
        self._run("stop", "-m", "immediate")

    def url(self, database: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://sluicegate:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str) -> str:
        """Make a database; its URL."""
        self.ask(f"CREATE DATABASE {name}")
        return self.url(name)

    def ask(self, sql: str, database: str = "postgres") -> str:
        """What psql prints for a statement, cells parted by `|`."""
        environ = {**os.environ, "PGPASSWORD": PASSWORD}
        address = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "sluicegate", "-d", database)
        command = ("psql", *address, "-X", "-A", "-t", "-c", sql)
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def _options(self) -> str:
        return f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off -c shared_buffers=16MB"

    def _run(self, *arguments: str) -> None:
        program = self.programs / "pg_ctl"
        command = (str(program), "-D", str(self.folder / "data"), *arguments)
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **_OTHER_USER
        )


def postgres_programs() -> Path | None:
    """The folder of initdb and pg_ctl; None where PostgreSQL's server is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return next(
        (path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None
    )


@contextmanager
def running_postgres(programs: Path) -> Iterator[Postgres]:
    """A server that is gone with all its files at the end."""
    with tempfile.TemporaryDirectory(prefix="sluicegate-postgres-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if _OTHER_USER:
            shutil.chown(folder, _OTHER_USER["user"], _OTHER_USER["group"])
            shutil.chown(folder / "password", _OTHER_USER["user"])
        command = (
            *(str(programs / "initdb"), "-D", str(folder / "data"), "-U", "sluicegate"),
            *("-A", "scram-sha-256", "--pwfile", str(folder / "password"), "-N", "-E", "UTF8"),
        )
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **_OTHER_USER)
        server = Postgres(programs, folder, _free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
