"""Payloads from records: a server, a failure, a flavor, an aggregate, a service.

It reads nothing: `watch` has read the data together with the record.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re
import typing

from nova_lite import runtime
from nova_lite import states
from nova_lite.conf import audit_periods
from nova_lite.db import rows
from nova_lite.notify import payloads
from nova_lite.notify import spec_payloads
from nova_lite.objects import request_spec

K = typing.TypeVar('K', bound=payloads.Payload)
Json: typing.TypeAlias = dict[str, typing.Any]
Facts: typing.TypeAlias = Mapping[str, typing.Any]

POWER_STATES = {
    states.PowerState.NOSTATE: 'pending',
    states.PowerState.RUNNING: 'running',
    states.PowerState.PAUSED: 'paused',
    states.PowerState.SHUTDOWN: 'shutdown',
    states.PowerState.CRASHED: 'crashed',
    states.PowerState.SUSPENDED: 'suspended',
}
# Columns whose payload field has the same name, and those whose field has another.
SAME = (
    'uuid',
    'user_id',
    'reservation_id',
    'display_name',
    'display_description',
    'host',
    'node',
    'os_type',
    'architecture',
    'availability_zone',
    'key_name',
    'kernel_id',
    'ramdisk_id',
    'created_at',
    'launched_at',
    'terminated_at',
    'deleted_at',
    'updated_at',
    'task_state',
    'progress',
    'locked',
    'locked_reason',
)
RENAMED = {
    'tenant_id': 'project_id',
    'host_name': 'hostname',
    'image_uuid': 'image_ref',
    'state': 'vm_state',
}
RESCUE_IMAGE = 'rescue_image_base_ref'
# Patterns of the class in a traceback's last line, and of the places in its frames.
RAISED = re.compile(r'^(?:(?P<module>[\w.]+)\.)?(?P<name>\w+)(?::|$)')
FRAME = re.compile(r'^\s+File ".*?(?P<path>nova_lite/[\w/]+)\.py", line \d+, in (?P<function>\w+)')


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server at the time of a recorded change.

    devices, shares: block devices and shares, None if notifications omit them
    tags: empty if notifications omit them
    asked: the row of the action, or None; migration: the newest one, if notifications name moves
    """

    row: rows.Row
    devices: list[rows.Row] | None
    shares: list[rows.Row] | None
    tags: list[str]
    migration: rows.Row | None
    asked: rows.Row | None
    request_id: str | None

    @property
    def user_id(self) -> str | None:
        return None if self.asked is None else self.asked.user_id

    @property
    def project_id(self) -> str | None:
        return None if self.asked is None else self.asked.project_id

    @property
    def crosses(self) -> bool | None:
        """Return whether the newest migration crosses cells; None without one."""
        return None if self.migration is None else bool(self.migration.cross_cell_move)

    def at_rest(self) -> typing.Self:
        """Return a copy without the migration, for a change that is not part of a move."""
        return dataclasses.replace(self, migration=None)


def of_server(
    kind: type[K],
    server: Server,
    *,
    fault: payloads.ExceptionPayload | None = None,
    facts: Facts | None = None,
) -> K:
    """Return the payload `kind` (a subclass of InstancePayload) of a Server.

    facts: further values of the action, such as 'volume_id'
    """
    row, facts = server.row, facts or {}
    made = kind(
        **{name: getattr(row, name) for name in SAME},
        **{name: getattr(row, column) for name, column in RENAMED.items()},
        flavor=of_flavor(row.flavor),
        power_state=POWER_STATES.get(row.power_state, 'pending'),
        ip_addresses=addresses(row.network_info),
        block_devices=_devices(server),
        metadata=row.metadata,
        auto_disk_config='AUTO' if row.auto_disk_config else 'MANUAL',
        request_id=server.request_id,
        action_initiator_user=server.user_id,
        action_initiator_project=server.project_id,
        shares=None if server.shares is None else [of_share(each) for each in server.shares],
    )
    if isinstance(made, payloads.InstanceActionPayload):
        made.fault = fault
        made.cross_cell_move = server.crosses
    for name in set(SPECIAL) & set(kind.fields):
        setattr(made, name, SPECIAL[name](server, facts))
    return made


def _devices(server: Server) -> list[payloads.BlockDevicePayload] | None:
    return None if server.devices is None else [of_device(device) for device in server.devices]


def _keypairs(server: Server, _facts: Facts) -> list[payloads.KeypairPayload]:
    row = server.row
    if not row.key_name:
        return []
    return [
        payloads.KeypairPayload(
            user_id=row.user_id,
            name=row.key_name,
            fingerprint=None,
            public_key=row.key_data,
            type='ssh',
        )
    ]


def _new_flavor(server: Server, _facts: Facts) -> payloads.FlavorPayload | None:
    return of_flavor(server.row.new_flavor) if server.row.new_flavor else None


def _period(_server: Server, facts: Facts) -> payloads.AuditPeriodPayload:
    """Return the period of an audit, or else the current one so far."""
    now = runtime.naive_now()
    beginning, ending = facts.get('period') or (
        audit_periods.begin(facts['audit_period'], now),
        now,
    )
    return payloads.AuditPeriodPayload(audit_period_beginning=beginning, audit_period_ending=ending)


# Fields that only some payloads of servers have.
SPECIAL: dict[str, Callable[[Server, Facts], object]] = {
    'audit_period': _period,
    'keypairs': _keypairs,
    'tags': lambda server, facts: sorted(server.tags),
    'trusted_image_certificates': lambda server, facts: server.row.trusted_certs,
    'instance_name': lambda server, facts: f'instance-{server.row.id:08x}',
    'new_flavor': _new_flavor,
    'rescue_image_ref': lambda server, facts: server.row.system_metadata.get(RESCUE_IMAGE),
    'snapshot_image_id': lambda server, facts: facts.get('snapshot_image_id'),
    'volume_id': lambda server, facts: facts.get('volume_id'),
    'share_id': lambda server, facts: facts.get('share_id'),
    'old_volume_id': lambda server, facts: facts.get('old_volume_id'),
    'new_volume_id': lambda server, facts: facts.get('volume_id'),
}


def of_update(server: Server, former: Facts, facts: Facts) -> payloads.InstanceUpdatePayload:
    """Return the payload of `instance.update`.

    former: {column: value} before the change; facts: {'audit_period': the option}
    """
    row = server.row
    made = of_server(payloads.InstanceUpdatePayload, server, facts=facts)
    made.state_update = payloads.InstanceStateUpdatePayload(
        old_state=former['vm_state'],
        state=row.vm_state,
        old_task_state=former['task_state'],
        new_task_state=row.task_state,
    )
    renamed = former['display_name'] != row.display_name
    made.old_display_name = former['display_name'] if renamed else None
    return made


def of_task(
    server: Server, fault: payloads.ExceptionPayload | None, parts: spec_payloads.Parts
) -> payloads.ComputeTaskPayload:
    """Return the payload of `compute_task.*.error`. parts: those that the server asks for"""
    row = server.row
    return payloads.ComputeTaskPayload(
        instance_uuid=row.uuid,
        state=row.vm_state,
        reason=fault,
        request_spec=_spec(
            row,
            flavor=of_flavor(row.new_flavor or row.flavor),
            num_instances=1,
            security_groups=_names(row.security_groups),
            **parts._asdict(),
        ),
    )


def of_spec(
    spec: request_spec.RequestSpec, parts: spec_payloads.Parts
) -> spec_payloads.RequestSpecPayload:
    """Return the payload of `scheduler.select_destinations`. parts: those that the spec asks for"""
    return _spec(
        spec,
        uuid=spec.instance_uuid,
        flavor=of_flavor(spec.flavor.as_dict()),
        num_instances=spec.num_instances,
        security_groups=spec.security_groups,
        ignore_hosts=spec.ignore_hosts or None,
        force_hosts=spec.force_hosts or None,
        force_nodes=spec.force_nodes or None,
        scheduler_hints=spec.scheduler_hints,
        **parts._asdict(),
    )


def _spec(
    source: typing.Any,
    *,
    uuid: str | None = None,
    scheduler_hints: Facts | None = None,
    **more: typing.Any,
) -> spec_payloads.RequestSpecPayload:
    nothing = dict.fromkeys(
        (
            'image',
            'numa_topology',
            'pci_requests',
            'ignore_hosts',
            'force_hosts',
            'force_nodes',
            'instance_group',
            'requested_destination',
            'retry',
        )
    )
    return spec_payloads.RequestSpecPayload(
        **{
            **nothing,
            'instance_uuid': uuid or source.uuid,
            'project_id': source.project_id,
            'user_id': source.user_id,
            'availability_zone': source.availability_zone,
            'scheduler_hints': scheduler_hints or {},
            **more,
        }
    )


def _names(groups: Iterable[typing.Any] | None) -> list[str]:
    return [each if isinstance(each, str) else each['name'] for each in groups or ()]


def of_flavor(values: Facts, projects: list[str] | None = None) -> payloads.FlavorPayload:
    """Return the payload of a flavor. values: {name: value}, of a server's record or of a row"""
    names = [name for name in payloads.FlavorPayload.fields if name in values]
    return payloads.FlavorPayload(
        **{name: values[name] for name in names}, projects=projects, vcpu_weight=0
    )


def of_device(row: rows.Row) -> payloads.BlockDevicePayload:
    """Return the payload of a block device."""
    return payloads.BlockDevicePayload(
        **{name: getattr(row, name) for name in payloads.BlockDevicePayload.fields}
    )


def of_share(row: rows.Row) -> payloads.SharePayload:
    """Return the payload of a share."""
    return payloads.SharePayload(
        share_mapping_uuid=row.uuid,
        share_id=row.share_id,
        status=row.status,
        tag=row.tag,
    )


def addresses(network_info: Iterable[Json] | None) -> list[payloads.IpPayload]:
    """Return the fixed addresses of a server's ports."""
    return [
        payloads.IpPayload(
            label=vif['network'].get('label'),
            mac=vif['address'],
            meta={},
            port_uuid=vif['id'],
            version=address.get('version') or (6 if ':' in address['address'] else 4),
            address=address['address'],
            device_name=vif.get('devname'),
        )
        for vif in network_info or ()
        for subnet in vif['network'].get('subnets', ())
        for address in subnet.get('ips', ())
    ]


def of_error(message: str, traceback: str | None) -> payloads.ExceptionPayload:
    """Return the payload of a failure. traceback: text, or None if it is not known"""
    lines = (traceback or '').strip().splitlines()
    raised = next((found for found in map(RAISED.match, reversed(lines)) if found), None)
    frame = next((found for found in map(FRAME.match, reversed(lines)) if found), None)
    return payloads.ExceptionPayload(
        module_name=frame['path'].replace('/', '.') if frame else 'nova_lite',
        function_name=frame['function'] if frame else 'unknown',
        exception=raised['name'] if raised else 'NovaLiteError',
        exception_message=message,
        traceback=traceback,
    )


def of_record(kind: type[K], values: Facts) -> K:
    """Return a payload whose fields have the names of `values`' keys."""
    return kind(**{name: values[name] for name in kind.fields})
