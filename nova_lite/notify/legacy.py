"""The unversioned form of notifications of servers, of metrics and of the use of volumes: a flat
dictionary, as consumers of old expect it. It is only sent if configured. Other records have none.

Source: reference/nova/moves 7.
"""

from collections.abc import Mapping
import datetime
import typing

from nova_lite.notify import from_records
from nova_lite.notify import watch

# Unversioned names that are not `compute.instance.` and the versioned action.
NAMES = {
    'resize_prep': 'resize.prep',
    'resize_finish': 'finish_resize',
    'resize_confirm': 'resize.confirm',
    'resize_revert': 'resize.revert',
    'live_migration_pre': 'live_migration.pre',
    'live_migration_post': 'live_migration._post',
    'live_migration_post_dest': 'live_migration.post.dest',
    'live_migration_rollback': 'live_migration._rollback',
    'live_migration_rollback_dest': 'live_migration.rollback.dest',
    'live_migration_abort': 'live.migration.abort',
    'live_migration_force_complete': 'live.migration.force.complete',
    'volume_attach': 'volume.attach',
    'volume_detach': 'volume.detach',
    'interface_attach': 'interface.attach',
    'interface_detach': 'interface.detach',
    'rebuild_scheduled': 'rebuild.scheduled',
}
Json: typing.TypeAlias = dict[str, typing.Any]

OLD_BINARIES = {'nova-compute': 'compute', 'nova-api': 'api', 'nova-conductor': 'conductor'}
COLUMNS = (
    'user_id',
    'display_name',
    'reservation_id',
    'hostname',
    'host',
    'node',
    'architecture',
    'os_type',
    'kernel_id',
    'ramdisk_id',
    'progress',
    'availability_zone',
    'access_ip_v4',
    'access_ip_v6',
    'memory_mb',
    'vcpus',
    'root_gb',
    'ephemeral_gb',
)
TIMES = ('created_at', 'launched_at', 'terminated_at', 'deleted_at')


# Actions of which there is one unversioned notification, at the end, without a phase.
WITHOUT_PHASE = ('volume_attach', 'volume_detach')
# {type of a notification of another record: its unversioned type}
RECORDS = {'metrics.update': 'compute.metrics.update', 'volume.usage': 'volume.usage'}
# Keys of unversioned payloads that are not those of the versioned ones.
RENAMED = {'project_id': 'tenant_id', 'instance_uuid': 'instance_id'}


def body(versioned: Json, change: watch.Change) -> Json | None:
    """Return the unversioned form of a server's versioned message; None if there is none."""
    first, _dot, rest = versioned['event_type'].partition('.')
    if first != 'instance':
        return None
    action, dot, phase = rest.partition('.')
    if action in WITHOUT_PHASE:
        if phase != 'end':
            return None
        dot = phase = ''
    return {
        **versioned,
        'event_type': f'compute.instance.{NAMES.get(action, action)}{dot}{phase}',
        'publisher_id': _publisher(versioned),
        'payload': payload(change.subject, versioned['payload']['nova_object.data']),
    }


def body_of_record(versioned: Json, facts: Mapping[str, typing.Any]) -> Json | None:
    """Return the unversioned form of another record's versioned message; None if there is none.

    facts: those of the note
    """
    event_type = RECORDS.get(versioned['event_type'])
    if event_type is None:
        return None
    return {
        **versioned,
        'event_type': event_type,
        'publisher_id': _publisher(versioned),
        'payload': {RENAMED.get(key, key): _plain(each) for key, each in facts['values'].items()},
    }


def _publisher(versioned: Json) -> str:
    binary, _colon, host = versioned['publisher_id'].partition(':')
    return f'{OLD_BINARIES[binary]}.{host}'


def _plain(value: object) -> object:
    is_time = isinstance(value, datetime.datetime)
    return f'{value:%Y-%m-%d %H:%M:%S}+00:00' if is_time else value


def payload(server: from_records.Server, data: Json) -> Json:
    """Return the flat payload. data: the data of the versioned payload"""
    row = server.row
    flavor = row.flavor
    found = {
        **{name: getattr(row, name) for name in COLUMNS},
        **{name: _time(getattr(row, name)) for name in TIMES},
        'tenant_id': row.project_id,
        'instance_id': row.uuid,
        'instance_type': flavor['name'],
        'instance_type_id': flavor['id'],
        'instance_flavor_id': flavor['flavorid'],
        'disk_gb': row.root_gb + row.ephemeral_gb,
        'image_ref_url': row.image_ref,
        'image_meta': row.image_properties,
        'state': row.vm_state,
        'state_description': row.task_state or '',
        'metadata': row.metadata,
        'cell_name': '',
    }
    fault = data.get('fault')
    if fault is not None:
        found['message'] = fault['nova_object.data']['exception_message']
    if 'volume_id' in data:
        found['volume_id'] = data['volume_id']
    update = data.get('state_update')
    if update is not None:
        found |= update['nova_object.data']
        found['old_display_name'] = data['old_display_name']
    period = data.get('audit_period')
    if period is not None:
        found |= {**period['nova_object.data'], 'bandwidth': {}}
    return found


def _time(moment: object) -> str:
    return '' if moment is None else str(moment)
