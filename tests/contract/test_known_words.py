import pytest

from proxy.contract.known_words import ANY, did_you_mean, without_unavailable
from proxy.yaml_places import parse_yaml


@pytest.mark.parametrize(
    ("word", "known", "remedy"),
    [
        pytest.param("atempts", ["attempts", "mode"], "did you mean `attempts`?", id="close"),
        pytest.param("zzz", ["b", "a"], "known: a, b", id="nothing close"),
        pytest.param("zzz", [], "remove it", id="nothing known"),
    ],
)
def test_remedy_names_the_likeliest_word(word: str, known: list[str], remedy: str) -> None:
    assert did_you_mean(word, known) == remedy


def test_planned_keys_are_taken_out_with_a_problem_each() -> None:
    document = parse_yaml(b"ledger: 1\nlanes: {a: {probe: 1, url: x}, b: {url: y}}\n", "s.yaml")

    data, problems = without_unavailable(
        document.data, [("ledger",), ("lanes", ANY, "probe")], document.places
    )

    assert data == {"lanes": {"a": {"url": "x"}, "b": {"url": "y"}}}
    assert [str(problem) for problem in problems] == [
        "s.yaml:1:1: `ledger` is not available in this version (remove it)",
        "s.yaml:2:13: `lanes.a.probe` is not available in this version (remove it)",
    ]


@pytest.mark.parametrize(
    "source", [pytest.param(b"- a", id="list"), pytest.param(b"lanes: x", id="text on the way")]
)
def test_data_of_another_shape_is_left_alone(source: bytes) -> None:
    document = parse_yaml(source, "s.yaml")

    data, problems = without_unavailable(document.data, [("lanes", ANY, "probe")], document.places)

    assert data == document.data
    assert problems == []
