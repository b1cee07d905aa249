from proxy.ledger.columns import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = list(table(("a", "longer"), [("four", "x"), ("", "y")]))

    assert lines == ["a     longer", "four  x", "      y"]


def test_widest_yielding_column_is_cut_until_the_line_fits() -> None:
    row = ("Qwen3.6-35B-A3B-FP8", "y" * 12)

    lines = list(table(("id", "b"), [row], yielding=("id",), width=30))

    assert lines[1] == "Qwen3.6-…A3B-FP8" + "  " + "y" * 12
    assert len(lines[1]) == 30


def test_columns_that_may_not_yield_are_never_cut() -> None:
    lines = list(table(("id", "b"), [("x" * 40, "y" * 12)], yielding=("b",), width=30))

    assert lines[1].startswith("x" * 40)
    assert lines[1].endswith("  yyy…yy")


def test_table_without_rows_is_its_headings() -> None:
    assert list(table(("a", "b"), [])) == ["a  b"]
