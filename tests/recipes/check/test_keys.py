from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, SECOND, codes, found

SERVE = "command: vllm serve a/b\n"


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        pytest.param(
            SERVE,
            "missing-version",
            "1:1 warning: `recipe_version` is missing: sparkrun reads this as version 2, "
            'run-recipe refuses it (write `recipe_version: "2"` as the first line)',
            id="no version",
        ),
        pytest.param(
            'recipe_version: "1"\ncontainer: vllm-node\n' + SERVE,
            "missing-key",
            "1:1 error: the key `name` is missing, which run-recipe needs in version 1 "
            "(add `name: ...`)",
            id="no name in version 1",
        ),
        pytest.param(
            'recipe_version: "1"\nname: r\n' + SERVE,
            "missing-key",
            "1:1 error: the key `container` is missing, which run-recipe needs in version 1 "
            "(add `container: ...`)",
            id="no container in version 1",
        ),
        pytest.param(
            FIRST + "comand: x\n" + SERVE,
            "unknown-key",
            "4:1 error: unknown key `comand`: nothing reads it (did you mean `command`?)",
            id="misspelt in version 1",
        ),
        pytest.param(
            FIRST + "zzz: x\n" + SERVE,
            "unknown-key",
            "4:1 warning: unknown key `zzz`: nothing reads it (remove it)",
            id="unlike any in version 1",
        ),
        pytest.param(
            SECOND + "default: {}\n" + SERVE,
            "unknown-key",
            "2:1 warning: unknown key `default`: sparkrun hands it to the runtime "
            "(did you mean `defaults`?)",
            id="misspelt in version 2",
        ),
        pytest.param(
            FIRST + "min_nodes: 1\n" + SERVE,
            "later-key",
            "4:1 warning: `min_nodes` is a key of version 2, which run-recipe does not read "
            '(write `recipe_version: "2"`, or remove the key)',
            id="key of version 2 in version 1",
        ),
        pytest.param(
            FIRST + "solo_only: true\ncluster_only: true\n" + SERVE,
            "solo-and-cluster",
            "5:1 error: `solo_only` and `cluster_only` exclude each other: the recipe starts "
            "nowhere (remove one of the two)",
            id="solo and cluster",
        ),
        pytest.param(
            SECOND + "min_nodes: 3\nmax_nodes: 2\n" + SERVE,
            "no-number-of-nodes",
            "2:12 error: `min_nodes` is 3, `max_nodes` is 2: no number of nodes is right "
            "(let `min_nodes` be at most `max_nodes`)",
            id="least above most",
        ),
        pytest.param(
            SECOND + "solo_only: true\nmin_nodes: 2\n" + SERVE,
            "solo-with-nodes",
            "3:12 error: `min_nodes` is 2, and `solo_only` allows one node (remove one of the two)",
            id="solo with two nodes",
        ),
        pytest.param(
            FIRST + "container: other\n" + SERVE,
            "repeated-key",
            "4:1 warning: the key `container` is written twice, first in line 3; the last one "
            "counts (remove one of the two)",
            id="written twice",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, text: str, code: str, expected: str
) -> None:
    assert found(tmp_path, text, code) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FIRST + "solo_only: true\nmods: []\nbuild_args: []\n" + SERVE, id="version 1"),
        pytest.param(SECOND + "min_nodes: 2\nmax_nodes: 2\nbuilder: x\n" + SERVE, id="version 2"),
    ],
)
def test_sound_keys_give_no_finding(tmp_path: Path, text: str) -> None:
    of_keys = {"missing-version", "missing-key", "unknown-key", "later-key", "solo-and-cluster"}

    assert not codes(tmp_path, text) & {*of_keys, "no-number-of-nodes", "solo-with-nodes"}
