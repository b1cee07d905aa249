"""Environments and the order of the tests with a real vLLM: few starts, so tests follow a plan."""

import os
from collections.abc import Generator
from typing import Any, Final

import pytest

from tests.engines.cache import Cache, Say
from tests.engines.environment import (
    VLLM_0_24,
    VLLM_0_32,
    EnvironmentFailed,
    NoWheel,
    VllmBuild,
    VllmEnvironment,
)

_TOLD: Final = pytest.StashKey[list[str]]()
_FAILED: Final = pytest.StashKey[str]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one server build on each other, so theirs is the order in which they are written."""
    planned = [item for item in items if item.get_closest_marker("vllm")]
    rest = [item for item in items if not item.get_closest_marker("vllm")]
    items[:] = [*rest, *sorted(planned, key=_written)]


def _written(item: pytest.Item) -> tuple[str, int, str]:
    path, line, name = item.location
    return path, line or 0, name


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TOLD] = []


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if lines := config.stash[_TOLD]:
        terminalreporter.section("real vLLM")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    report = yield
    if report.failed and item.parent:
        item.parent.stash.setdefault(_FAILED, item.name)
    return report


@pytest.fixture
def in_order(request: pytest.FixtureRequest) -> None:
    """For tests that build on each other: what follows a failed one would only wait in vain."""
    if failed := request.node.parent.stash.get(_FAILED, None):
        pytest.skip(f"it builds on {failed}, which failed")


@pytest.fixture(scope="session")
def note(pytestconfig: pytest.Config) -> Say:
    """Takes a line for the summary at the end of the run."""
    return pytestconfig.stash[_TOLD].append


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, note: Say) -> Cache:
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    terminal = pytestconfig.pluginmanager.getplugin("terminalreporter")

    def say(line: str) -> None:
        note(line)
        with capture.global_and_fixture_disabled():
            terminal.write_line(line)

    return Cache.of(os.environ, say)


@pytest.fixture(scope="session")
def vllm_0_32(cache: Cache) -> VllmEnvironment:
    return _provided(VLLM_0_32, cache)


@pytest.fixture(scope="session")
def vllm_0_24(cache: Cache) -> VllmEnvironment:
    return _provided(VLLM_0_24, cache)


def _provided(build: VllmBuild, cache: Cache) -> VllmEnvironment:
    """Skips where vLLM cannot be had; in CI only where no wheel exists, and fails otherwise."""
    try:
        environment = VllmEnvironment.provide(build, cache, os.environ)
    except EnvironmentFailed as error:
        if os.environ.get("CI") and not isinstance(error, NoWheel):
            raise
        pytest.skip(
            f"vLLM {build.version} for the CPU cannot be had here; "
            f"set {build.variable} to a virtual environment that has it. {error}"
        )
    cache.say(f"vLLM {environment.version}: {environment.folder}")
    return environment
