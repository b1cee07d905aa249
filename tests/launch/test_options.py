from dataclasses import fields

from proxy.launch.options import UpOptions


def test_nothing_is_done_that_was_not_asked_for() -> None:
    default = UpOptions()

    asked = {field.name: getattr(default, field.name) for field in fields(default)}

    assert asked.pop("stop_seconds") > 0
    assert not any(asked.values())
