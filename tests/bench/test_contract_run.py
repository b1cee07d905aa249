import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from proxy.bench.contract_cases import ContractCase
from proxy.bench.contract_reading import AnswerReader
from proxy.bench.contract_run import ContractRun, Trial
from proxy.bench.contract_server import ContractServer, UnusableServer
from proxy.contract.in_process import InProcessGate, full_kinds
from proxy.contract.policy_file import load_policy
from proxy.data_files import policies_folder
from proxy.gates.registry import gate_kinds
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.direct import DirectLane
from tests.fakes.contract import CASES, SCRIPT, good
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream

POLICY = load_policy(policies_folder() / "editorial-de.yaml", full_kinds(gate_kinds()), ("main",))
FALLBACKS = [rule.fallback_text for rule in POLICY.rules]
GOOD = CASES[0]
FAULT = Scripted((b'{"error": {"message": "boom"}}',), status=500)


@asynccontextmanager
async def prepared(*script: Scripted) -> AsyncIterator[tuple[ContractRun, FakeUpstream]]:
    async with fake_upstream(*script) as upstream:
        server = ContractServer(upstream.url, "editorial-de")
        lane = DirectLane("main", upstream.url, Timeouts())
        seen: list[Trial] = []
        reader = AnswerReader(FALLBACKS)
        gate = InProcessGate(POLICY)
        try:
            yield ContractRun(server, lane, gate, reader, "tiny", seen.append), upstream
        finally:
            await server.close()
            await lane.close()


async def trial_of(case: ContractCase, contents: Sequence[str]) -> Trial:
    """One trial; the server must be called for each of these contents, and no more."""
    async with prepared(*map(completion, contents)) as (run, upstream):
        await run.run([case], 1)
        assert len(upstream.calls) == len(contents)
    (trial,) = run.trials
    return trial


@pytest.mark.parametrize(
    ("name", "before", "after", "outcome"),
    [
        ("product-cargo-bike", ("too_long",), (), "passed"),
        ("note-router-advisory", (), ("kept_back",), "parked"),
        ("thin-app", ("overconfident",), ("kept_back",), "rejected"),
        ("product-heat-pump", ("not_json",), ("kept_back",), "rejected"),
        (
            "product-hearing-aid",
            ("too_short", "missing_fact"),
            ("too_short", "missing_fact"),
            "flagged",
        ),
        ("note-compiler", ("needless_abstention",), (), "passed"),
    ],
)
async def test_trial_tells_what_the_gate_makes_of_the_same_answer(
    name: str, before: tuple[str, ...], after: tuple[str, ...], outcome: str
) -> None:
    (case,) = [each for each in CASES if each.name == name]

    trial = await trial_of(case, SCRIPT[name])

    assert trial.before
    assert trial.before.reading.faults == before
    assert trial.after.reading.faults == after
    assert (trial.after.outcome, trial.after.attempts) == (outcome, len(SCRIPT[name]))


async def test_good_answer_costs_one_call_for_both_sides() -> None:
    trial = await trial_of(GOOD, [good(GOOD)])

    assert trial.before
    assert trial.before.reading == trial.after.reading
    assert trial.after.outcome == "passed"


async def test_every_case_is_asked_before_any_is_asked_again() -> None:
    cases = CASES[:2]
    async with prepared(*[completion(good(case)) for case in (*cases, *cases)]) as (run, upstream):
        await run.run(cases, 2)

    told = [(trial.run, trial.case.name) for trial in run.trials]
    assert told == [(number, case.name) for number in (1, 2) for case in cases]
    assert [call.json["seed"] for call in upstream.calls] == [1, 1, 2, 2]


@pytest.mark.parametrize("fault", [FAULT, Scripted((b"{",), end=End.CUT)], ids=["500", "cut"])
async def test_answer_that_does_not_come_counts_and_the_rest_goes_on(fault: Scripted) -> None:
    script = [completion(good(CASES[0])), fault, fault, completion(good(CASES[2]))]
    async with prepared(*script) as (run, _):
        await run.run(CASES[:3], 1)

    faults = [trial.before.reading.faults for trial in run.trials if trial.before]
    assert faults[0] == faults[2] == ()
    assert faults[1] == ("no_answer",)
    assert run.trials[1].after.reading.faults == ("no_answer",)


async def test_lost_call_is_repaired_by_the_gate() -> None:
    """The shipped policy repeats a call that was broken off."""
    script = [Scripted((b"{",), end=End.CUT), completion(good(GOOD))]
    async with prepared(*script) as (run, _):
        await run.run([GOOD], 1)

    (trial,) = run.trials
    assert trial.before
    assert trial.before.reading.faults == ("no_answer",)
    assert trial.after.reading.is_usable
    assert trial.after.attempts == 2


async def test_server_that_refuses_the_first_request_ends_it_at_once() -> None:
    refusal = Scripted((b'{"error": {"message": "no response_format here"}}',), status=400)

    async with prepared(refusal) as (run, upstream):
        with pytest.raises(UnusableServer, match="status 400: no response_format here"):
            await run.run(CASES, 1)

    assert len(upstream.calls) == 1
    assert run.trials == []


async def test_server_that_goes_away_ends_it_and_what_is_there_stays() -> None:
    async with prepared(completion(good(GOOD))) as (run, upstream):
        upstream.script += [Scripted((b"{",), end=End.CUT)] * 20
        with pytest.raises(UnusableServer, match="No answer 3 times in a row"):
            await run.run(CASES, 1)

    assert len(run.trials) == 4
    assert run.trials[0].after.reading.is_usable


@pytest.mark.parametrize(
    ("reply", "outcome", "faults"),
    [
        (completion(good(GOOD)), "passed", ()),
        (FAULT, "rejected", ("kept_back",)),
    ],
    ids=["delivered", "rejected"],
)
async def test_server_that_is_a_gate_has_only_an_after(
    reply: Scripted, outcome: str, faults: tuple[str, ...]
) -> None:
    headers = (("x-sluicegate-outcome", outcome), ("x-sluicegate-attempts", "3"))
    gated = Scripted(reply.pieces, reply.status, headers)

    async with prepared(gated) as (run, upstream):
        await run.run([GOOD], 1)

    (trial,) = run.trials
    assert trial.before is None
    assert (trial.after.outcome, trial.after.attempts) == (outcome, 3)
    assert trial.after.reading.faults == faults
    assert len(upstream.calls) == 1


async def test_correction_goes_to_the_same_server() -> None:
    (case,) = [each for each in CASES if each.name == "product-cargo-bike"]
    async with prepared(*map(completion, SCRIPT[case.name])) as (run, upstream):
        await run.run([case], 1)

    first, second = (call.json["messages"] for call in upstream.calls)
    assert json.dumps(second).startswith(json.dumps(first)[:-1])
    assert "shorten by" in second[-1]["content"]
