"""GET /servers/{server_id}/diagnostics: the counters of the guest, from its hypervisor.

Hosts of all hypervisors answer in the format of 2.48. Before 2.48 each driver had a separate
format; this API then shows the format of the libvirt driver.
Source: reference/nova/api-surface 2.3.
"""

import string

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import guests as rules
from nova_lite.api.servers import source_host
from nova_lite.clients import session

STANDARD = 48
KIB_PER_MIB = 1024


def view(req: request.Request, found: session.Json) -> session.Json:
    """Return the counters in the format of the microversion."""
    return found if req.minor >= STANDARD else _of_libvirt(found)


@operation.operation(
    'GET',
    '/servers/{server_id}/diagnostics',
    policy=rules.DIAGNOSTICS,
    faults=(400, 403, 404, 409, 501),
    view=view,
)
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show the present counters of the guest."""
    source_host.require_up(req, server)
    req.app.waiters.enter(req)
    return req.app.compute(server.cell).get_diagnostics(
        req.ctxt, host=server.row.host, instance_uuid=server.uuid
    )


def _of_libvirt(found: session.Json) -> session.Json:
    shown = {'memory': found['memory_details']['maximum'] * KIB_PER_MIB}
    shown |= {f'cpu{cpu["id"]}_time': cpu['time'] for cpu in found['cpu_details']}
    for letter, disk in zip(string.ascii_lowercase, found['disk_details'], strict=False):
        shown |= {
            f'vd{letter}_read': disk['read_bytes'],
            f'vd{letter}_read_req': disk['read_requests'],
            f'vd{letter}_write': disk['write_bytes'],
            f'vd{letter}_write_req': disk['write_requests'],
            f'vd{letter}_errors': disk['errors_count'],
        }
    for number, nic in enumerate(found['nic_details']):
        for way in ('rx', 'tx'):
            shown[f'vnet{number}_{way}'] = nic[f'{way}_octets']
            for counter in ('packets', 'drop', 'errors'):
                shown[f'vnet{number}_{way}_{counter}'] = nic[f'{way}_{counter}']
    return shown
