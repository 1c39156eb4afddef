"""/os-instance_usage_audit_log: which hosts have reported the usage of a period.

Hosts here report none (nova's [DEFAULT]instance_usage_audit, off by default), so of
every period the log says that no host has. Source: reference/nova/api-surface 2.5.
"""

import datetime

from oslo_utils import timeutils

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import service_records
from nova_lite.api.policies import os_hosts as rules
from nova_lite.db.cell import services

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
    ending = before.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if ending.year == datetime.MINYEAR:
        raise InvalidTimestamp(text=str(before))
    beginning = (ending - datetime.timedelta(days=1)).replace(day=1)
    found = service_records.every(req, binary=services.COMPUTE).records
    hosts = sorted({each.row.host for each in found})
    return {
        'period_beginning': str(beginning),
        'period_ending': str(ending),
        'num_hosts': len(hosts),
        'num_hosts_done': 0,
        'num_hosts_running': 0,
        'num_hosts_not_run': len(hosts),
        'hosts_not_run': hosts,
        'total_instances': 0,
        'total_errors': 0,
        'overall_status': f'0 of {len(hosts)} hosts done. 0 errors.',
        'log': {},
    }
