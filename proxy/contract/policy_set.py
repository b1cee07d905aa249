"""The policies in force, in order, and which of them a request falls under."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from proxy.contract.policy import Policy
from proxy.errors import InvalidRequest

HEADER: Final = "x-sluicegate-policy"

# Model names come from clients: neither many of them nor long ones may fill the memory.
_CACHED_NAMES: Final = 1024
_CACHED_CHARACTERS: Final = 256
_SHOWN_CHARACTERS: Final = 64


class PolicySet:
    """Policies in the settings' order; `by_header` names those that a client may ask for."""

    def __init__(self, policies: Sequence[Policy], by_header: Collection[str] = ()) -> None:
        self.policies: Final = tuple(policies)
        self._by_header = {policy.name: policy for policy in policies if policy.name in by_header}
        self._first_cached = lru_cache(maxsize=_CACHED_NAMES)(self._first)

    def choose(self, model: str, endpoint: str, header: str | None) -> Policy | None:
        """The policy named by the client, else the first that covers model and endpoint.

        None: no policy is for this request. Raises `InvalidRequest` when the header names a policy
        that does not exist, that clients may not ask for, or that is not for this request.
        """
        if header:
            return self._named(header, model, endpoint)
        if len(model) > _CACHED_CHARACTERS:
            return self._first(model, endpoint)
        return self._first_cached(model, endpoint)

    def _first(self, model: str, endpoint: str) -> Policy | None:
        for policy in self.policies:
            if policy.match.header is None and policy.match.covers(model, endpoint):
                return policy
        return None

    def _named(self, header: str, model: str, endpoint: str) -> Policy:
        policy = self._by_header.get(header)
        shown = header[:_SHOWN_CHARACTERS]
        if policy is None:
            raise _unknown(f"There is no policy `{shown}` that a request may ask for.")
        if not policy.match.covers(model, endpoint):
            named = model[:_SHOWN_CHARACTERS]
            raise _unknown(f"The policy `{shown}` is not for model `{named}` on {endpoint}.")
        return policy


def _unknown(message: str) -> InvalidRequest:
    return InvalidRequest(message, code="unknown_policy", param=HEADER)
