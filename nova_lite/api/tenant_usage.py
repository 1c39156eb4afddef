"""Usage of projects over a period: hours, and sizes times hours.

Pages, from 2.40, are of servers: a project may go on in the next one.
Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Sequence
import datetime
import typing

from nova_lite import cells
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import cross_cell_lists
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import times
from nova_lite.api.policies import quotas as rules
from nova_lite.db import rows
from nova_lite.db.cell import usage

# Start and stop, without a zone.
Period: typing.TypeAlias = tuple[datetime.datetime, datetime.datetime]

ALL = '/os-simple-tenant-usage'
ONE = '/os-simple-tenant-usage/{target_id}'
FORMATS = ('%Y-%m-%dT%H:%M:%S', '%Y-%m-%dT%H:%M:%S.%f', '%Y-%m-%d %H:%M:%S.%f')
SECONDS = 3600

PERIOD = {'start': schema_parts.multi(), 'end': schema_parts.multi()}
DETAILED = {'detailed': schema_parts.multi()}
LIST_QUERY = {
    '2.1': schema_parts.query({**PERIOD, **DETAILED}),
    '2.40': schema_parts.query({**PERIOD, **DETAILED, **schema_parts.PAGE}),
    '2.75': schema_parts.query({**PERIOD, **DETAILED, **schema_parts.PAGE}, strict=True),
}
SHOW_QUERY = {
    '2.1': schema_parts.query(PERIOD),
    '2.40': schema_parts.query({**PERIOD, **schema_parts.PAGE}),
    '2.75': schema_parts.query({**PERIOD, **schema_parts.PAGE}, strict=True),
}


# ---- operations -------------------------------------------------------------


@operation.operation('GET', ALL, policy=rules.USAGE_LIST, query=LIST_QUERY, faults=(400, 403))
def list_usages(req: request.Request) -> operation.Result:
    """Usage of every project that had servers in the period."""
    period = _period(req)
    chosen, marker = _servers(req, period)
    grouped: dict[str, list[rows.Row]] = {}
    for row in chosen:
        grouped.setdefault(row.project_id, []).append(row)
    detailed = req.first('detailed') == '1'
    shown = [
        _project(project_id, group, period, detailed=detailed)
        for project_id, group in grouped.items()
    ]
    return paging.with_next(req, 'tenant_usages', shown, marker)


@operation.operation('GET', ONE, query=SHOW_QUERY, faults=(400, 403))
def show(req: request.Request) -> operation.Result:
    """Usage of one project, server by server."""
    project_id = req.args['target_id']
    req.authorize(rules.USAGE, {'project_id': project_id})
    period = _period(req)
    chosen, marker = _servers(req, period, project_id)
    answer: operation.Body = {
        'tenant_usage': _project(project_id, chosen, period) if chosen else {}
    }
    if marker is not None:
        answer['tenant_usage_links'] = links.next_page(req, marker)
    return answer


# ---- views ------------------------------------------------------------------


def _project(
    project_id: str, listed: Sequence[rows.Row], period: Period, *, detailed: bool = True
) -> operation.Body:
    servers = [_server(row, period) for row in listed]
    shown = {
        'tenant_id': project_id,
        'total_hours': sum(each['hours'] for each in servers),
        'start': times.naive(period[0]),
        'stop': times.naive(period[1]),
    }
    for name in ('vcpus', 'memory_mb', 'local_gb'):
        shown[f'total_{name}_usage'] = sum(each[name] * each['hours'] for each in servers)
    if detailed:
        shown['server_usages'] = servers
    return shown


def _server(row: rows.Row, period: Period) -> operation.Body:
    start, stop = period
    ended = row.terminated_at
    inside = min(ended or stop, stop) - max(row.launched_at, start)
    age = (ended or runtime.naive_now()) - row.launched_at
    return {
        'instance_id': row.uuid,
        'name': row.display_name,
        'tenant_id': row.project_id,
        'flavor': row.flavor.get('name'),
        'vcpus': row.vcpus,
        'memory_mb': row.memory_mb,
        'local_gb': row.root_gb + row.ephemeral_gb,
        'hours': max(inside.total_seconds(), 0) / SECONDS,
        'started_at': times.naive(row.launched_at),
        'ended_at': times.naive(ended),
        'state': 'terminated' if ended else row.vm_state,
        'uptime': int(age.total_seconds()),
    }


# ---- reading ----------------------------------------------------------------


def _period(req: request.Request) -> Period:
    """Return (start, stop) as times without a zone. Raise Invalid."""
    now = runtime.naive_now()
    start, stop = (_time(req.first(name), now) for name in ('start', 'end'))
    if start > stop:
        raise exception.Invalid(
            'Invalid start time. The start time cannot occur after the end time.'
        )
    return start, stop


def _time(text: str | None, default: datetime.datetime) -> datetime.datetime:
    if not text:
        return default
    for form in FORMATS:
        try:
            return datetime.datetime.strptime(text, form)  # noqa: DTZ007 (UTC by definition)
        except ValueError:
            continue
    raise exception.Invalid('Datetime is in invalid format')


def _servers(
    req: request.Request, period: Period, project_id: str | None = None
) -> tuple[list[rows.Row], str | None]:
    """Return (rows of the page, uuid to link the next page with or None)."""
    paged = req.minor >= 40
    limit = paging.limit_of(req) if paged else None
    after = _marker(req) if paged and 'marker' in req.params else None
    answers, _silent = cells.split(
        cross_cell_lists.steadily(
            req,
            lambda: req.app.cells.scatter(
                usage.active, *period, project_id=project_id, after=after, limit=limit
            ),
        )
    )
    found = {row.uuid: row for known in answers.values() for row in known}
    chosen = sorted(found.values(), key=lambda row: (row.project_id, row.uuid))[:limit]
    full = limit is not None and paging.is_full(req, chosen, limit)
    return chosen, chosen[-1].uuid if full else None


def _marker(req: request.Request) -> rows.Row | None:
    uuid = req.param('marker')
    answers, _silent = cells.split(req.app.cells.scatter(usage.find, uuid))
    for row in answers.values():
        if row is not None:
            return row
    raise exception.MarkerNotFound(marker=uuid)
