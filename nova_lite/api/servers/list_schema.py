"""Query parameters of server lists, by microversion.

Source: reference/nova/api-surface 7.
"""

from nova_lite.api import schema
from nova_lite.api import schema_parts

_TEXT = schema_parts.multi()
_REGEX = schema_parts.multi({'type': 'string', 'minLength': 1, 'format': 'regex'})
_TIME = schema_parts.multi({'type': 'string', 'format': 'date-time'})

SORT_KEYS = (
    'access_ip_v4', 'access_ip_v6', 'auto_disk_config', 'availability_zone', 'config_drive',
    'created_at', 'display_description', 'display_name', 'host', 'hostname', 'image_ref',
    'instance_type_id', 'kernel_id', 'key_name', 'launch_index', 'launched_at', 'locked_by',
    'node', 'power_state', 'progress', 'project_id', 'ramdisk_id', 'root_device_name',
    'task_state', 'terminated_at', 'updated_at', 'user_id', 'uuid', 'vm_state',
)  # fmt: skip
# Sort keys of old clients: without effect up to 2.74, refused from 2.75.
IGNORED_SORT_KEYS = (
    'architecture', 'cell_name', 'cleaned', 'default_ephemeral_device', 'default_swap_device',
    'deleted', 'deleted_at', 'disable_terminate', 'ephemeral_gb', 'ephemeral_key_uuid', 'id',
    'key_data', 'launched_on', 'locked', 'memory_mb', 'os_type', 'reservation_id', 'root_gb',
    'shutdown_terminate', 'user_data', 'vcpus', 'vm_mode',
)  # fmt: skip
# Tables that are no filters: an administrator who names one is refused; of other users the name is
# ignored.
TABLES = (
    'block_device_mapping', 'services', 'metadata', 'system_metadata', 'info_cache',
    'security_groups', 'pci_devices',
)  # fmt: skip

_BASE = {
    'user_id': _TEXT,
    'project_id': _TEXT,
    'tenant_id': _TEXT,
    'launch_index': _TEXT,
    'image': _TEXT,
    'image_ref': _TEXT,
    'kernel_id': _REGEX,
    'ramdisk_id': _REGEX,
    'hostname': _REGEX,
    'key_name': _REGEX,
    'power_state': _REGEX,
    'vm_state': _TEXT,
    'task_state': _TEXT,
    'host': _TEXT,
    'node': _REGEX,
    'flavor': _REGEX,
    'reservation_id': _REGEX,
    'launched_at': _REGEX,
    'terminated_at': _REGEX,
    'availability_zone': _REGEX,
    'name': _REGEX,
    'display_name': _REGEX,
    'description': _REGEX,
    'display_description': _REGEX,
    'locked_by': _REGEX,
    'uuid': _TEXT,
    'root_device_name': _REGEX,
    'config_drive': _REGEX,
    'access_ip_v4': _REGEX,
    'access_ip_v6': _REGEX,
    'auto_disk_config': _REGEX,
    'progress': _REGEX,
    'status': _TEXT,
    'changes-since': _TIME,
    'ip': _REGEX,
    'ip6': _REGEX,
    'created_at': _REGEX,
    'all_tenants': _TEXT,
    'soft_deleted': _TEXT,
    'deleted': _TEXT,
    **schema_parts.PAGE,
    'sort_key': schema_parts.multi({'type': 'string', 'enum': [*SORT_KEYS, *IGNORED_SORT_KEYS]}),
    'sort_dir': _TEXT,
}
_TAG_NAMES = ('tags', 'tags-any', 'not-tags', 'not-tags-any')
_TAGS = dict.fromkeys(_TAG_NAMES, _REGEX)
_LOCKED = {'locked': _TEXT}
_STRICT_SORT = {
    'sort_key': schema_parts.multi({'type': 'string', 'enum': [*SORT_KEYS, 'locked']}),
}


def _schema(properties: dict[str, schema.Source], *, strict: bool = False) -> schema.Source:
    found = schema_parts.query({**properties, **dict.fromkeys(TABLES, _TEXT)}, strict=strict)
    found['patternProperties'] = {'^_': _TEXT}
    return found


_V26 = {**_BASE, **_TAGS}
_V66 = {**_V26, 'changes-before': _TIME}
_V73 = {**_V66, **_LOCKED}
_V75 = {**_V73, **_STRICT_SORT}

QUERY = {
    '2.1': _schema(_BASE),
    '2.26': _schema(_V26),
    '2.66': _schema(_V66),
    '2.73': _schema(_V73),
    '2.75': _schema(_V75, strict=True),
}
# {microversion: names of parameters}; other names are ignored.
_NAMES = [
    (1, frozenset(_BASE)),
    (26, frozenset(_V26)),
    (66, frozenset(_V66)),
    (73, frozenset(_V73)),
]

# {filter that all users may use: first microversion}
FOR_ALL = (
    (1, ('reservation_id', 'name', 'status', 'image', 'flavor', 'ip', 'changes-since',
         'all_tenants')),
    (5, ('ip6',)),
    (26, tuple(_TAGS)),
    (66, ('changes-before',)),
    (73, ('locked',)),
    (83, ('availability_zone', 'config_drive', 'key_name', 'created_at', 'launched_at',
          'terminated_at', 'power_state', 'task_state', 'vm_state', 'progress', 'user_id')),
    (90, ('hostname',)),
)  # fmt: skip


def names(minor: int) -> frozenset[str]:
    """Return the names of the parameters that have an effect at 2.`minor`."""
    return next(found for first, found in reversed(_NAMES) if minor >= first)


def allowed(minor: int) -> set[str]:
    """Return names that everyone may filter by at 2.`minor`."""
    return {name for first, names in FOR_ALL if minor >= first for name in names}
