from proxy.gates.evidence.findings import TYPED, VALUES, Finding, Kind, Span, Support


def test_every_kind_is_a_fault_of_its_own() -> None:
    assert {kind.fault for kind in Kind} == {f"evidence_{kind}" for kind in Kind}


def test_typed_kinds_are_those_that_can_be_compared() -> None:
    assert {kind for kind in Kind if kind.is_typed} == TYPED
    assert VALUES < TYPED


def test_flag_is_what_the_sources_do_not_bear() -> None:
    flags = {
        support for support in Support if Finding(Kind.NUMBER, support, Span(0, 1), "1").is_flag
    }

    assert flags == {Support.MISSING, Support.UNIT_MISMATCH}
