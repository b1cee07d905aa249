from proxy.errors import Place, Problem
from proxy.recipes.check.finding import Finding, Severity, in_order, of_problem


def finding(line: int, column: int, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(severity, "code", Place("r.yaml", line, column), "message", "remedy")


def test_findings_stand_in_the_order_of_the_file() -> None:
    later, earlier, first = finding(10, 1), finding(2, 9), finding(2, 3)

    assert in_order([later, earlier, first]) == (first, earlier, later)


def test_gravest_finding_of_a_place_comes_first() -> None:
    note, error = finding(1, 1, Severity.NOTE), finding(1, 1)
    warning = finding(1, 1, Severity.WARNING)

    assert in_order([note, warning, error]) == (error, warning, note)


def test_the_same_finding_stands_once() -> None:
    assert in_order([finding(1, 1), finding(1, 1)]) == (finding(1, 1),)


def test_problem_of_reading_is_an_error() -> None:
    problem = Problem(Place("r.yaml", 3, 1), "not YAML", "mend it")

    found = of_problem(problem, "unreadable")

    assert found == Finding(Severity.ERROR, "unreadable", problem.place, "not YAML", "mend it")
