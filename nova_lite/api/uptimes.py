"""Uptimes of hypervisors, asked of their hosts.

A list asks many hosts at once, since one that hangs takes as long as all.
"""

from collections.abc import Iterable

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import hypervisor_records
from nova_lite.api import request
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

AT_ONCE = 16


def ask(req: request.Request, found: hypervisor_records.Hypervisor) -> str:
    """Return the uptime of a hypervisor; errors of the call are the caller's."""
    req.app.waiters.enter(req)
    return req.app.compute(found.cell).host_uptime(req.ctxt, host=found.node.host)


def of(
    req: request.Request, hypervisors: Iterable[hypervisor_records.Hypervisor]
) -> list[str | None]:
    """Return the uptime of each, in order; None if a host does not answer."""
    with runtime.executor(AT_ONCE) as pool:
        return list(pool.map(lambda found: _ask_or_none(req, found), hypervisors))


def _ask_or_none(req: request.Request, found: hypervisor_records.Hypervisor) -> str | None:
    if not services.is_up(found.service, req.conf.service_down_time):
        return None
    try:
        return ask(req, found)
    except exception.NovaLiteError as error:
        LOG.info('Cannot get the uptime of host %s: %s', found.node.host, error)
        return None
