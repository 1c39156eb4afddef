"""Transactions of a cell: its hosts, their nodes, and their unfinished work."""

from collections.abc import Iterable
import datetime
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite import states
from nova_lite.conductor import build_reports
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import reset_builds
from nova_lite.db.cell import services
from nova_lite.db.cell import shares
from nova_lite.dialects import execute
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects
from nova_lite.rpc.methods import conductor as methods
from nova_lite.states import transitions

COMPUTE_TOPIC = 'compute'
# Columns of a server that its host compares with the guest.
RECORD = (
    'uuid',
    'host',
    'node',
    'vm_state',
    'task_state',
    'power_state',
    'hidden',
    'updated_at',
)
_SWITCHING = (*transitions.START.tasks, *transitions.STOP.tasks)
_SERVERS, _SERVICES = instances.TABLE, services.TABLE
_RECORDS = sa.select(*(_SERVERS.c[name] for name in RECORD)).where(
    _SERVERS.c.host.in_(sa.bindparam('hosts')), _SERVERS.c.deleted.is_(False)
)
_SOME_RECORDS = _RECORDS.where(_SERVERS.c.uuid.in_(sa.bindparam('uuids')))
_UNFINISHED = sa.or_(
    sa.and_(
        _SERVERS.c.deleted.is_(False),
        _SERVERS.c.task_state.in_([str(task) for task in transitions.HOST_TASKS]),
    ),
    # Builds that failed and could not be cleaned up completely then, and builds whose servers were
    # deleted while their hosts were down.
    sa.and_(
        _SERVERS.c.vm_state.in_([str(state) for state in build_reports.OVER]),
        _SERVERS.c.task_state.is_(None),
        _SERVERS.c.build.is_not(None),
    ),
    # Some of these builds continue although the states of their servers were set.
    sa.and_(
        _SERVERS.c.deleted.is_(False),
        _SERVERS.c.vm_state != str(states.VmState.BUILDING),
        _SERVERS.c.build.is_not(None),
    ),
)
_UNUSABLE = sa.select(_SERVICES.c.host, _SERVICES.c.disabled, _SERVICES.c.forced_down).where(
    _SERVICES.c.binary == services.COMPUTE,
    sa.or_(_SERVICES.c.disabled.is_(True), _SERVICES.c.forced_down.is_(True)),
)


class Returned(Exception):
    """Hosts that have guests of evacuated servers cannot be up yet.

    hosts: {host: the reply to its compute}
    """

    def __init__(self, hosts: dict[str, dict[str, bool]]) -> None:
        super().__init__(hosts)
        self.hosts = hosts


def beat(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    hosts: list[str],
    version: int,
    starting: list[str] | None,
    *,
    enabled: bool,
) -> dict[str, dict[str, bool]]:
    """Record a heartbeat of hosts, as `ConductorAPI.beat`; raise Returned if a host came back.

    enabled: whether new services are enabled
    """
    gone = services.beat(
        connection,
        hosts,
        services.COMPUTE,
        COMPUTE_TOPIC,
        version=version,
        starting=starting,
        enabled=enabled,
    )
    # A query that names thousands of hosts costs more than reading these few rows of the whole
    # cell.
    ours = set(hosts)
    found = [row for row in execute.every(connection, _UNUSABLE) if row.host in ours]
    # An evacuation begins under a lock on the service's row, which this transaction holds now.
    left = evacuations.sources(connection) & ours
    # Services that are forced down do not count as up in any case.
    left -= {row.host for row in found if row.forced_down}
    if left:
        disabled = {row.host for row in found if row.disabled}
        raise Returned(
            {
                host: {'disabled': host in disabled, 'forced_down': False, 'returned': True}
                for host in left
            }
        )
    reply = {row.host: {'disabled': row.disabled, 'forced_down': row.forced_down} for row in found}
    return reply | {host: {'disabled': False, 'forced_down': False, 'gone': True} for host in gone}


def report(
    connection: sa.Connection, host: str, binary: str, topic: str, down_time_s: float
) -> int:
    """Record a heartbeat of a conductor. Keep hosts up whose heartbeats no conductor could receive.

    Return the number of these hosts.
    """
    excused = services.excuse(connection, down_time_s, evacuations.sources(connection))
    services.beat(connection, [host], binary, topic)
    return excused


def introduce(connection: sa.Connection, host: str, binary: str, topic: str) -> None:
    """Add the service of a new conductor. The record of a known conductor is not changed."""
    if services.find(connection, host, binary) is None:
        services.beat(connection, [host], binary, topic)


def report_nodes(
    connection: sa.Connection, ctxt: context.RequestContext, nodes: Iterable[methods.Json]
) -> dict[str, dict[str, str]]:
    """Add or update compute nodes. Return {host: {hypervisor_hostname: uuid}}."""
    hosts = {node['host'] for node in nodes}
    served = services.served(connection, hosts)
    known = {
        (row.host, row.hypervisor_hostname): row.uuid
        for row in compute_nodes.every(connection, host=hosts)
    }
    named = {}
    for node in nodes:
        key = node['host'], node['hypervisor_hostname']
        if node['host'] not in served:
            continue
        named[key] = {**node, 'uuid': known.get(key) or runtime.new_uuid()}
    compute_nodes.report(connection, list(named.values()))
    for node in named.values():
        if node.get('metrics'):
            _note_metrics(connection, node)
    uuids: dict[str, dict[str, str]] = {}
    for (host, name), node in named.items():
        uuids.setdefault(host, {})[name] = node['uuid']
    return uuids


def _note_metrics(connection: sa.Connection, node: methods.Json) -> None:
    values = {
        'host': node['host'],
        'host_ip': node['host_ip'],
        'nodename': node['hypervisor_hostname'],
        'metrics': node['metrics'],
    }
    notes.add(connection, 'metrics.update', host=node['host'], values=values)


def records(
    connection: sa.Connection, hosts: Iterable[str], uuids: Iterable[str] | None = None
) -> list[methods.HostRecord]:
    """Return the records of servers on hosts, or those with `uuids`; also hidden copies."""
    query, parameters = _RECORDS, {'hosts': execute.filled(hosts)}
    if uuids is not None:
        query, parameters['uuids'] = _SOME_RECORDS, execute.filled(uuids)
    found = [dict(row._mapping) for row in execute.every(connection, query, parameters)]
    for record in found:
        changed = record['updated_at']
        record['updated_at'] = changed and changed.isoformat()
    return typing.cast(list[methods.HostRecord], found)


def instance_records(connection: sa.Connection, host: str, uuid: str) -> methods.Json:
    """Return a server of a host with its block devices and shares. Raise StateChanged."""
    row = instances.get(connection, uuid)
    instances.require_host(row, host)
    devices = children.block_devices(connection, [uuid]).get(uuid, ())
    return {
        'instance': instance_objects.Instance.from_row(row),
        'block_devices': [block_device.BlockDevice.of(device) for device in devices],
        'shares': shares.of_server(connection, uuid),
    }


def held_guests(connection: sa.Connection, host: str, guests: Iterable[str]) -> list[str]:
    """Return the guests (server uuids) that the host has a reason to keep."""
    wanted = set(guests)
    held = {row.uuid for row in instances.on_host(connection, host)}
    held.update(row.instance_uuid for row in migrations.in_progress(connection, host))
    return sorted(wanted & held)


def unfinished(
    connection: sa.Connection, hosts: Iterable[str], idle_s: float
) -> list[methods.Unfinished]:
    """Return work of hosts that has not changed for `idle_s` seconds, without that of sagas."""
    before = runtime.naive_now() - datetime.timedelta(seconds=idle_s)
    found = rows.every(
        connection,
        instances.TABLE,
        instances.IS_IDLE,
        _UNFINISHED,
        order_by=instances.TABLE.c.id,
        given={'idle_since': before},
        host=list(hosts),
    )
    found = [row for row in found if _is_of_host(row)]
    devices = children.block_devices(connection, [row.uuid for row in found])
    return [_work(connection, row, devices.get(row.uuid, ())) for row in found]


def _work(
    connection: sa.Connection, row: rows.Row, devices: Iterable[rows.Row]
) -> methods.Unfinished:
    found: methods.Unfinished = {
        'instance': instance_objects.Instance.from_row(row),
        'block_devices': [block_device.BlockDevice.of(device) for device in devices],
        'context': _context_of(connection, row),
        'build': row.build,
        'continues': reset_builds.continues(row),
    }
    request_id = found['context'].get('request_id', '')
    if row.task_state in _SWITCHING and actions.has_begun(
        connection, row.uuid, request_id, transitions.POWER_UPDATE, row.host
    ):
        found['event'] = transitions.POWER_UPDATE
    return found


def _is_of_host(row: rows.Row) -> bool:
    is_over = row.task_state is None and row.vm_state in build_reports.OVER
    return is_over or row.task_state in transitions.HOST_TASKS or reset_builds.continues(row)


def _context_of(connection: sa.Connection, row: rows.Row) -> methods.Json:
    """Return the context of the request that a server's host has not finished, if known."""
    if row.build and reset_builds.is_building(row):
        asked_then: methods.Json = row.build['context']
        return asked_then
    action = actions.find_newest(connection, row.uuid)
    asked = {'user_id': row.user_id, 'project_id': row.project_id}
    if action is not None:
        asked = {
            'user_id': action.user_id,
            'project_id': action.project_id,
            'request_id': action.request_id,
        }
    return context.RequestContext.from_wire(asked).to_wire()
