from proxy.recipes.evidence.fit_finding import Kind
from proxy.recipes.evidence.fit_report import LABEL_COLUMNS


def test_every_kind_fits_into_the_column_of_the_report() -> None:
    assert max(len(kind) for kind in Kind) < LABEL_COLUMNS
