"""/os-instance_usage_audit_log: which hosts have reported the usage of a period.

Conductors of cells record it if [DEFAULT]instance_usage_audit is set. Source: reference/nova/
api-surface 2.5.
"""

import datetime

from oslo_utils import timeutils

from nova_lite import cells
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import service_records
from nova_lite.api.policies import os_hosts as rules
from nova_lite.conf import audit_periods
from nova_lite.db import rows
from nova_lite.db.cell import services
from nova_lite.db.cell import task_log

PATH = '/os-instance_usage_audit_log'
FORMATS = ('%Y-%m-%d %H:%M:%S', '%Y-%m-%d %H:%M:%S.%f')


class InvalidTimestamp(exception.Invalid):
    msg = 'Invalid timestamp for date %(text)s'


@operation.operation('GET', PATH, policy=rules.AUDITS_LIST, faults=(400, 403))
def index(req: request.Request) -> operation.Result:
    """Show the tasks of the last period that is over."""
    return {'instance_usage_audit_logs': _log(req, runtime.naive_now())}


@operation.operation('GET', PATH + '/{before}', policy=rules.AUDITS_SHOW, faults=(400, 403))
def show(req: request.Request) -> operation.Result:
    """Show the tasks of the last period that was over at a time."""
    return {'instance_usage_audit_log': _log(req, _parse(req.args['before']))}


def _parse(text: str) -> datetime.datetime:
    for form in FORMATS:
        try:
            return timeutils.parse_strtime(text, form)
        except ValueError:
            continue
    raise InvalidTimestamp(text=text[:100])


def _log(req: request.Request, before: datetime.datetime) -> operation.Body:
    try:
        period = audit_periods.last(req.conf.instance_usage_audit_period, before)
    except (ValueError, OverflowError) as error:
        raise InvalidTimestamp(text=str(before)) from error
    found = service_records.every(req, binary=services.COMPUTE).records
    hosts = sorted({each.row.host for each in found})
    answers, _silent = cells.split(req.app.cells.scatter(task_log.of_period, period=period))
    done = [row for known in answers.values() for row in known]
    missing = sorted({*hosts} - {row.host for row in done})
    errors = sum(row.errors for row in done)
    of_all = 'ALL' if len(done) == len(hosts) else f'{len(done)} of {len(hosts)}'
    return {
        'period_beginning': str(period[0]),
        'period_ending': str(period[1]),
        'num_hosts': len(hosts),
        'num_hosts_done': len(done),
        'num_hosts_running': 0,
        'num_hosts_not_run': len(missing),
        'hosts_not_run': missing,
        'total_instances': sum(row.task_items for row in done),
        'total_errors': errors,
        'overall_status': f'{of_all} hosts done. {errors} errors.',
        'log': {row.host: _entry(row) for row in done},
    }


def _entry(row: rows.Row) -> operation.Body:
    return {
        'state': row.state,
        'instances': row.task_items,
        'errors': row.errors,
        'message': row.message,
    }
