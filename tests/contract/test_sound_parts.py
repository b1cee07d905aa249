import pytest
from pydantic import Field

from proxy.contract.section import Section
from proxy.contract.sound_parts import sound_parts
from proxy.yaml_places import parse_yaml


class Part(Section):
    count: int = 0
    names: list[str] = Field(default_factory=list)


class Whole(Section):
    part: Part = Part()
    more: dict[str, Part] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("source", "value", "wrong"),
    [
        pytest.param("part: {count: 3}", Whole(part=Part(count=3)), set(), id="all sound"),
        pytest.param(
            "part: {count: x, names: [a]}",
            Whole(part=Part(names=["a"])),
            {("part", "count")},
            id="one value",
        ),
        pytest.param(
            "part: {count: 3, names: [a, 1]}",
            Whole(part=Part(count=3)),
            {("part", "names")},
            id="list as a whole",
        ),
        pytest.param("part: {cuont: 3}", Whole(), {("part", "cuont")}, id="unknown key"),
        pytest.param(
            "more: {a: 5, b: {count: 1}}",
            Whole(more={"b": Part(count=1)}),
            {("more", "a")},
            id="one of a mapping",
        ),
        pytest.param("- part", Whole(), {()}, id="everything"),
    ],
)
def test_what_is_right_is_kept_beside_what_is_wrong(
    source: str, value: Whole, wrong: set[tuple[str, ...]]
) -> None:
    document = parse_yaml(source.encode(), "w.yaml")

    sound = sound_parts(Whole, document.data, document.places)

    assert sound.value == value
    assert sound.wrong == wrong
    assert len(sound.problems) == len(wrong)
