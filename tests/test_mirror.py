"""Every module has its test at the mirrored path, and every test its module."""

import ast
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parent
PROXY: Final = TESTS.parent / "proxy"
NO_MIRRORS: Final = {"e2e", "engines", "fakes", "benchmarks", "fuzz", "cases", "grafana", "deploy"}
OF_THE_WHOLE: Final = {"test_mirror.py", "test_docs.py", "test_sluicegate.py"}
# Properties that several modules hold together.
OF_SEVERAL: Final = {
    "gates/damage.py",
    "gates/schema_agreement.py",
    "upstream/engine_history.py",
    "upstream/engine_memory.py",
    "upstream/engine_sleep.py",
    "upstream/engine_sources.py",
}

# Modules that only a running proxy shows, or that are vocabulary alone, and what covers them.
COVERED_BY: Final = {
    "app.py": "e2e/test_pass.py",
    "contract/clock.py": "e2e/test_pass.py",
    "contract/judging_child.py": "contract/test_judge_process.py",
    "contract/window.py": "e2e/test_window.py",
    "errors.py": "e2e/test_bad_input.py",
    "gates/abstain_options.py": "gates/test_abstain.py",
    "gates/length_tokens.py": "gates/test_length.py",
    "gates/pattern_options.py": "gates/test_pattern.py",
    "ledger/connections.py": "ledger/test_database.py",
    "ledger/migrations/env.py": "ledger/test_revision.py",
    "ledger/migrations/versions/0001_starts_and_requests.py": "ledger/test_revision.py",
    "ledger/pace.py": "ledger/test_writer.py",
    "ledger/tables.py": "ledger/test_revision.py",
    "ledger/trouble.py": "ledger/test_diagnosis.py",
    "ledger/upgrade.py": "ledger/test_revision.py",
    "ledger/version.py": "ledger/test_revision.py",
    "ledger/writing_child.py": "ledger/test_writer_process.py",
    "routes/admin.py": "e2e/test_keys_and_admin.py",
    "routes/health.py": "e2e/test_keys_and_admin.py",
    "routes/pages.py": "e2e/test_keys_and_admin.py",
    "routes/public.py": "e2e/test_keys_and_admin.py",
    "routes/shown.py": "e2e/test_keys_and_admin.py",
    "telemetry/outcome.py": "telemetry/test_metrics.py",
    "upstream/lane.py": "upstream/test_direct.py",
}


def _modules() -> set[str]:
    """Modules that hold more than a docstring."""
    return {
        str(path.relative_to(PROXY))
        for path in PROXY.rglob("*.py")
        if "data" not in path.relative_to(PROXY).parts and len(ast.parse(path.read_text()).body) > 1
    }


def _mirrored() -> set[str]:
    """The modules that the test files claim to mirror."""
    tests = (path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
    return {
        str(test.with_name(test.name.removeprefix("test_")))
        for test in tests
        if test.parts[0] not in NO_MIRRORS | OF_THE_WHOLE
    }


def test_every_test_mirrors_a_module() -> None:
    assert _mirrored() - _modules() - OF_SEVERAL == set()


def test_every_module_has_a_test() -> None:
    without = _modules() - _mirrored() - COVERED_BY.keys()

    assert without - {"__init__.py"} == set()


def test_exceptions_are_needed_and_name_tests_that_exist() -> None:
    assert COVERED_BY.keys() <= _modules() - _mirrored()
    assert all((TESTS / test).is_file() for test in COVERED_BY.values())
