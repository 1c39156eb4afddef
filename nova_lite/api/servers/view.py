"""The representation of a server, at each microversion.

`Viewer` is made once per request, `detail` once per server: rows in, dicts out.
Source: reference/nova/api-surface 6.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import functools
import hashlib

from oslo_utils import uuidutils

from nova_lite import states
from nova_lite.api import links
from nova_lite.api import request
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import addresses
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import instance_lists
from nova_lite.lifecycle.guests import images

PROGRESS = frozenset(('ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING'))
FAULTY = frozenset(('ERROR', 'DELETED'))
MISSING = ''
OFFLOADED = states.VmState.SHELVED_OFFLOADED

_COLUMNS = (
    'id', 'uuid', 'project_id', 'user_id', 'display_name', 'host', 'node', 'vm_state',
    'task_state', 'power_state', 'progress', 'image_ref', 'key_name', 'availability_zone',
    'flavor', 'metadata', 'network_info', 'security_groups', 'access_ip_v4', 'access_ip_v6',
    'auto_disk_config', 'config_drive', 'launched_at', 'terminated_at', 'created_at',
    'updated_at', 'deleted',
)  # fmt: skip
_INNER = (
    'reservation_id', 'launch_index', 'hostname', 'kernel_id', 'ramdisk_id', 'root_device_name',
    'user_data',
)  # fmt: skip


class Viewer:
    """The fields that the caller may see, and data that only some fields need.

    devices, faults, tags, host_statuses, specs (stored request specs), groups (uuids of server
        groups): by server uuid
    group_names: of security groups by id; None if the network service does not answer
    full: include fields that only GET answers have below 2.75
    """

    def __init__(self, req: request.Request, *, full: bool = True, show: bool = False) -> None:
        self.req = req
        self.minor: int = req.minor
        self.full = full or req.minor >= 75
        self.with_groups = show and req.minor >= 71
        self.inner = self.full and req.allows(rules.EXTENDED_ATTRIBUTES)
        self.host_status = req.minor >= 16 and self.full and req.allows(rules.HOST_STATUS)
        self.host_unknown = (
            req.minor >= 16
            and self.full
            and not self.host_status
            and req.allows(rules.HOST_STATUS_UNKNOWN)
        )
        self.extra_specs = req.minor >= 47 and req.allows(rules.EXTRA_SPECS)
        self.is_admin = bool(req.ctxt.is_admin)
        self.name_template = req.conf.instance_name_template
        self.devices: dict[str, list[tuple[str, bool]]] = {}
        self.faults: dict[str, rows.Row] = {}
        self.tags: dict[str, list[str]] = {}
        self.host_statuses: dict[str, str] = {}
        self.specs: dict[str, session.Json] = {}
        self.groups: dict[str, str] = {}
        self.group_names: dict[str, str] | None = {}

    @property
    def wants_tags(self) -> bool:
        return self.minor >= 26

    @property
    def wants_hosts(self) -> bool:
        return self.host_status or self.host_unknown

    @property
    def down_after_s(self) -> float | None:
        """Return after how many silent seconds a host is down, None if no status is shown."""
        return self.req.conf.service_down_time if self.wants_hosts else None

    @property
    def wants_specs(self) -> bool:
        return self.minor >= 96

    def columns(self) -> list[str]:
        """Return the columns of the rows that the view reads."""
        names = list(_COLUMNS)
        if self.inner and self.minor >= 3:
            names += _INNER
        elif self.minor >= 90:
            names.append('hostname')
        if self.minor >= 9:
            names.append('locked')
        if self.minor >= 19:
            names.append('display_description')
        if self.minor >= 63:
            names.append('trusted_certs')
        if self.minor >= 73:
            names.append('locked_reason')
        if self.minor >= 98:
            names.append('image_properties')
        return names

    def name_groups(self, servers: Iterable[rows.Row]) -> None:
        """Look up the names of the security groups that servers have by id.

        A server that is being built shows the requested groups.
        """
        if not self.full:
            return
        built = [
            row for row in servers if row.network_info and not (_is_building(row) or row.deleted)
        ]
        ids: set[str] = set()
        for row in built:
            groups = _groups(row)
            ids.update(row.security_groups or () if groups is None else groups)
        ids = {group for group in ids if uuidutils.is_uuid_like(group)}
        if ids:
            self.group_names = self.req.app.network.security_groups.names.of(self.req.ctxt, ids)

    def take(self, found: instance_lists.Details) -> None:
        """Add the result of `instance_lists.details` for a cell."""
        self.devices.update(found['devices'])
        self.faults.update(found['faults'])
        self.tags.update(found['tags'])
        self.host_statuses.update(found['host_statuses'])


def basic(req: request.Request, row: rows.Row) -> session.Json:
    """Return the entry of GET /servers."""
    return {
        'id': row.uuid,
        'name': row.display_name,
        'links': links.resource(req, 'servers', row.uuid),
    }


def detail(viewer: Viewer, row: rows.Row) -> session.Json:
    """Return a server with all fields.

    A deleted server has no addresses, volumes, metadata and tags, and no status of its host.
    """
    status = states.status_of(row.vm_state, row.task_state)
    shown = {
        'id': row.uuid,
        'name': row.display_name,
        'status': status,
        'tenant_id': row.project_id,
        'user_id': row.user_id,
        'metadata': {} if row.deleted else row.metadata,
        'hostId': host_id(row.project_id, row.host),
        'image': _image(viewer, row),
        'flavor': flavor(viewer, row.flavor),
        'created': isotime(row.created_at),
        'updated': isotime(row.updated_at or row.created_at),
        'addresses': {}
        if _is_building(row) or row.deleted
        else addresses.view(row.network_info, extended=viewer.full),
        'accessIPv4': row.access_ip_v4 or '',
        'accessIPv6': row.access_ip_v6 or '',
        'links': links.resource(viewer.req, 'servers', row.uuid),
        'OS-DCF:diskConfig': 'AUTO' if row.auto_disk_config else 'MANUAL',
    }
    if status in PROGRESS:
        shown['progress'] = row.progress or 0
    if status in FAULTY and row.uuid in viewer.faults and not row.deleted:
        shown['fault'] = fault(viewer, viewer.faults[row.uuid])
    if viewer.full:
        _add_extensions(viewer, row, shown)
    _add_later(viewer, row, shown)
    return shown


def _is_building(row: rows.Row) -> bool:
    return bool(row.vm_state == states.VmState.BUILDING)


def _was_offloaded(row: rows.Row) -> bool:
    """Return whether a server is offloaded, or was offloaded before its deletion."""
    return bool(
        row.vm_state == OFFLOADED
        or row.deleted
        and row.host is None
        and row.launched_at is not None
    )


def _add_extensions(viewer: Viewer, row: rows.Row, shown: session.Json) -> None:
    # The record of an offloaded server keeps the zone, which volumes need.
    zone = None if _was_offloaded(row) else row.availability_zone
    shown['OS-EXT-AZ:availability_zone'] = zone or MISSING
    shown['config_drive'] = row.config_drive or MISSING
    shown['key_name'] = row.key_name
    shown['OS-SRV-USG:launched_at'] = naive(row.launched_at)
    shown['OS-SRV-USG:terminated_at'] = naive(row.terminated_at)
    shown['OS-EXT-STS:task_state'] = row.task_state
    shown['OS-EXT-STS:vm_state'] = row.vm_state
    shown['OS-EXT-STS:power_state'] = row.power_state or 0
    if names := _names_of_groups(viewer, row):
        shown['security_groups'] = [{'name': name} for name in names]
    volumes = () if row.deleted else viewer.devices.get(row.uuid, ())
    shown['os-extended-volumes:volumes_attached'] = [
        {'id': volume_id, 'delete_on_termination': bool(delete)}
        if viewer.minor >= 3
        else {'id': volume_id}
        for volume_id, delete in volumes
    ]
    if viewer.inner:
        _add_inner(viewer, row, shown)
    if viewer.wants_hosts:
        status = '' if row.deleted else viewer.host_statuses.get(row.uuid, '')
        if viewer.host_status or status == 'UNKNOWN':
            shown['host_status'] = status


def _groups(row: rows.Row) -> list[str] | None:
    """Return the ids of the groups on each port of a server, or None if they are not recorded.

    Servers of an earlier release have no such record.
    """
    on_ports = [vif.get('security_groups') for vif in row.network_info]
    return None if None in on_ports else [group for groups in on_ports for group in groups]


def _names_of_groups(viewer: Viewer, row: rows.Row) -> Sequence[str]:
    """Return the names of the groups on each port, as in nova: a server without ports has none."""
    requested: Sequence[str] = row.security_groups or ()
    if _is_building(row):
        return requested
    if row.deleted or not row.network_info:
        return ()
    known, groups = viewer.group_names, _groups(row)
    if groups is None or known is None:
        return [(known or {}).get(name, name) for name in requested]
    return sorted(known[group] for group in groups if group in known)


def _add_inner(viewer: Viewer, row: rows.Row, shown: session.Json) -> None:
    prefix = 'OS-EXT-SRV-ATTR:'
    shown[prefix + 'host'] = row.host
    shown[prefix + 'hypervisor_hostname'] = row.node
    shown[prefix + 'instance_name'] = instance_name(viewer.name_template, row)
    if viewer.minor >= 3:
        for name in _INNER:
            shown[prefix + name] = getattr(row, name)


def _add_later(viewer: Viewer, row: rows.Row, shown: session.Json) -> None:
    """Add the fields of later microversions, in their order."""
    minor = viewer.minor
    if minor >= 9:
        shown['locked'] = bool(row.locked)
    if minor >= 19:
        shown['description'] = row.display_description
    if minor >= 26:
        shown['tags'] = [] if row.deleted else viewer.tags.get(row.uuid, [])
    if minor >= 63:
        shown['trusted_image_certificates'] = row.trusted_certs
    if viewer.with_groups:
        group = viewer.groups.get(row.uuid)
        shown['server_groups'] = [group] if group else []
    if minor >= 73:
        shown['locked_reason'] = row.locked_reason
    if minor >= 90:
        shown['OS-EXT-SRV-ATTR:hostname'] = row.hostname
    if minor >= 96:
        spec = viewer.specs.get(row.uuid, {})
        shown['pinned_availability_zone'] = spec.get('availability_zone')
        if minor >= 100:
            shown['scheduler_hints'] = hints(spec)


def hints(spec: session.Json) -> dict[str, list[str]]:
    """Return the scheduler hints, each as a list."""
    return dict(spec.get('scheduler_hints', {}))


def _image(viewer: Viewer, row: rows.Row) -> session.Json | str:
    if not row.image_ref:
        return ''
    shown = {
        'id': row.image_ref,
        'links': links.bookmark(viewer.req, 'images', row.image_ref),
    }
    if viewer.minor >= 98:
        shown['properties'] = {
            name: value
            for name, value in (row.image_properties or {}).items()
            if name in images.SHOWN
        }
    return shown


def flavor(viewer: Viewer, values: session.Json) -> session.Json:
    """Return the embedded flavor of a server, from the flavor in its record."""
    if viewer.minor < 47:
        return {
            'id': values['flavorid'],
            'links': links.bookmark(viewer.req, 'flavors', values['flavorid']),
        }
    shown = {
        'vcpus': values['vcpus'],
        'ram': values['memory_mb'],
        'disk': values['root_gb'],
        'ephemeral': values['ephemeral_gb'],
        'swap': values['swap'],
        'original_name': values['name'],
    }
    if viewer.extra_specs:
        shown['extra_specs'] = values.get('extra_specs', {})
    return shown


def fault(viewer: Viewer, row: rows.Row) -> session.Json:
    """Return the fault of a server, with details only if the caller may see them."""
    shown = {'code': row.code, 'created': isotime(row.created_at), 'message': row.message}
    if row.details and (viewer.is_admin or row.code != 500):
        shown['details'] = row.details
    return shown


@functools.lru_cache(maxsize=4096)
def host_id(project_id: str, host: str | None) -> str:
    """Return an opaque id of the host for the project."""
    if not host:
        return ''
    return hashlib.sha224(f'{project_id}{host}'.encode()).hexdigest()


def instance_name(template: str, row: rows.Row) -> str:
    """Return the name of the guest on its hypervisor, or an empty text for a server in no cell."""
    if not row.id:
        return ''
    identity: int | dict[str, str] = row.id
    try:
        return template % identity
    except TypeError:
        return template % {'uuid': row.uuid, 'name': row.display_name}


def isotime(moment: datetime.datetime | None) -> str | None:
    """Return a time as the API shows it."""
    return None if moment is None else moment.isoformat(timespec='seconds') + 'Z'


def naive(moment: datetime.datetime | None) -> str | None:
    """Return a time as the extension OS-SRV-USG shows it: no zone."""
    return None if moment is None else moment.isoformat(timespec='microseconds')
