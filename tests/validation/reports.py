"""Reading reports."""

from openenv.validation import Report


def statuses(report: Report, *wanted: str) -> dict[str, str]:
    """The checks that ended in one of these ways."""
    return {r.check_id: r.status.value for r in report.results if r.status.value in wanted}
