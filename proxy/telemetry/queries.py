"""PromQL that the documentation of a metric shows: small, and the same on each Prometheus."""


def rate(family: str, *by: str, matching: str = "", window: str = "5m") -> str:
    """How often a second, for each value of some labels."""
    selected = f"{{{matching}}}" if matching else ""
    summed = f"sum by ({', '.join(by)}) " if by else "sum"
    return f"{summed}(rate({family}{selected}[{window}]))"


def quantile(share: float, family: str, *by: str, matching: str = "") -> str:
    """The value that this share of a histogram's samples stays below."""
    return (
        f"histogram_quantile({share:g}, {rate(f'{family}_bucket', *by, 'le', matching=matching)})"
    )
