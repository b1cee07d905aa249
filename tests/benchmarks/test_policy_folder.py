"""Many policies, of which only the last one matches."""

from pathlib import Path

from contents import MODEL
from policy_folder import policies_in

from proxy.contract.policy_file import load_policies
from proxy.gates.registry import gate_kinds


def test_every_policy_is_valid_and_only_the_shipped_one_is_chosen(tmp_path: Path) -> None:
    folder, order = policies_in(tmp_path, 10)

    policies = load_policies(folder, order, (), gate_kinds(), {"main"})

    chosen = policies.choose(MODEL, "chat", None)
    assert len({policy.name for policy in policies.policies}) == 10
    assert chosen is not None
    assert chosen.name == order[-1] == "production"
    assert policies.choose("other-3/a", "chat", None) is not chosen


def test_one_policy_is_the_shipped_one(tmp_path: Path) -> None:
    assert policies_in(tmp_path, 1) == (tmp_path, ["production"])
