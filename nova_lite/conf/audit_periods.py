"""Periods of usage audits, as [DEFAULT]instance_usage_audit_period names them.

`hour`, `day`, `month` or `year`; with an offset after `@`, the minute, hour, day or month at which
each period begins. Times are UTC, without zone.
"""

from collections.abc import Mapping
import datetime
import re
import typing

Moment: typing.TypeAlias = datetime.datetime
# Begin and end of a period.
Period: typing.TypeAlias = tuple[Moment, Moment]

SETTING = re.compile(
    r'hour(@[0-5]?\d)?|day(@([01]?\d|2[0-3]))?|month(@(0?[1-9]|1\d|2[0-8]))?|year(@(0?[1-9]|1[0-2]))?'
)
MONTHS = 12


def last(setting: str, before: Moment) -> Period:
    """Return the last period that was over at a time.

    Raise ValueError or OverflowError before the year 1.
    """
    end = begin(setting, before)
    return begin(setting, end - datetime.timedelta(microseconds=1)), end


def begin(setting: str, at: Moment) -> Moment:
    """Return the begin of the period in which a time is. Raise ValueError for another setting."""
    if SETTING.fullmatch(setting) is None:
        raise ValueError(f'{setting} is no audit period')
    unit, _at, offset = setting.partition('@')
    begins = at.replace(**_fields(unit, int(offset) if offset else None), second=0, microsecond=0)
    if begins <= at:
        return begins
    if unit == 'hour':
        return begins - datetime.timedelta(hours=1)
    if unit == 'day':
        return begins - datetime.timedelta(days=1)
    if unit == 'month':
        years, month = divmod(begins.year * MONTHS + begins.month - 2, MONTHS)
        return begins.replace(year=years, month=month + 1)
    return begins.replace(year=begins.year - 1)


def _fields(unit: str, offset: int | None) -> Mapping[str, typing.Any]:
    if unit == 'hour':
        return {'minute': offset or 0}
    if unit == 'day':
        return {'hour': offset or 0, 'minute': 0}
    if unit == 'month':
        return {'day': offset or 1, 'hour': 0, 'minute': 0}
    return {'month': offset or 1, 'day': 1, 'hour': 0, 'minute': 0}
