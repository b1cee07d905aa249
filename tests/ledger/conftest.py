"""The databases that a ledger may stand in, as fixtures."""

import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.ledger.address import LedgerAddress, read_address
from tests.fakes.postgres import Postgres, postgres_programs, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests that do not stop it."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("the programs of PostgreSQL's server are not installed")
    with running_postgres(programs) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_writer_is_left() -> Iterator[None]:
    """A writer that was stuck when its ledger was closed ends before the next test begins."""
    yield
    for thread in threading.enumerate():
        if thread.name == "ledger":
            thread.join(20)


@pytest.fixture
def sqlite(tmp_path: Path) -> LedgerAddress:
    return read_address(f"sqlite:///{tmp_path}/ledger.db")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, sqlite: LedgerAddress) -> LedgerAddress:
    """An empty place for a ledger, of each kind."""
    if request.param == "sqlite":
        return sqlite
    server: Postgres = request.getfixturevalue("postgres")
    return read_address(server.new_database(f"ledger_{uuid.uuid4().hex}"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)
