"""Times in answers. Older resources show them without a zone, newer ones with a Z."""

import datetime


def naive(value: datetime.datetime | None) -> str | None:
    """Return a time as most administrative resources show it: 2026-01-31T12:00:00.000000."""
    return None if value is None else value.strftime('%Y-%m-%dT%H:%M:%S.%f')
