"""Store the servers of a checked request as rows, in one transaction.

From then on the servers are built or fail visibly, also after the death of any process: a build
request is the journal of its build. Source: reference/nova/create-server 3.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api.servers import create_devices
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import create_names
from nova_lite.api.servers import create_plan
from nova_lite.api.servers import unique_names
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import image as image_objects
from nova_lite.objects import request_spec

IMAGE_FIELDS = tuple(image_objects.ImageMeta.fields)
MEMBERS = 'server_group_members'
# {server: its block devices}
Devices: typing.TypeAlias = Mapping[str, Sequence[create_devices.Device]]


def accept(req: request.Request, plan: create_plan.Checked, devices: Devices) -> list[str]:
    """Store the servers of a plan. Return the uuids of the servers that the quotas allow.

    devices: {uuid: block devices}
    Raise OverQuota, also for members of a server group, Conflict if reservations of the servers
    were released in the meantime, and AlreadyExists for a name that is in use since
    `unique_names.require`.
    """
    image = image_meta(
        plan.boot_image,
        plan.columns['image_properties'],
        boots_from_volume=plan.asked.boots_from_volume,
    )
    accepts = req.app.accepts.of(req.project_id)
    return quota_locks.write(accepts, _store, req, plan, devices=devices, image=image)


def _store(
    connection: sa.Connection,
    req: request.Request,
    plan: create_plan.Checked,
    *,
    devices: Devices,
    image: session.Json | None,
) -> list[str]:
    count = _count(connection, req, plan)
    uuids = list(plan.uuids[:count])
    names = create_names.display_names(plan.asked.name, count)
    unique_names.decide(connection, req, names, req.project_id)
    if plan.reserves:
        build_requests.redeem(connection, uuids)
    now = runtime.naive_now()
    flavor = plan.asked.flavor
    mapping = {
        'project_id': req.project_id,
        'user_id': req.user_id,
        'vcpus': flavor.vcpus,
        'memory_mb': flavor.memory_mb,
    }
    instance_mappings.create(connection, [{'instance_uuid': uuid, **mapping} for uuid in uuids])
    _join_group(connection, req, plan.asked.server_group, uuids)
    arguments = _arguments(plan, image)
    build_requests.create(
        connection,
        [
            {
                'instance_uuid': uuid,
                'project_id': req.project_id,
                'reservation_id': plan.columns['reservation_id'],
                'request_id': req.ctxt.request_id,
                'instance': _record(req, plan, uuid, name=names[index], index=index, now=now),
                'block_devices': [
                    {**device, 'uuid': runtime.new_uuid(), 'instance_uuid': uuid}
                    for device in devices[uuid]
                ],
                'tags': plan.asked.tags,
                'arguments': arguments,
            }
            for index, uuid in enumerate(uuids)
        ],
        lease_s=req.conf.conductor.build_lease_s,
    )
    request_specs.create(
        connection, [_spec(req, plan, uuid, count=count, image=image) for uuid in uuids]
    )
    return uuids


def _count(connection: sa.Connection, req: request.Request, plan: create_plan.Checked) -> int:
    """Return how many servers quotas allow. Hold the project's lock where the count needs it."""
    found = _scopes(connection, req)
    is_member = plan.asked.server_group is not None
    if quota.bounds(found, (*quota.COUNTED, MEMBERS) if is_member else quota.COUNTED):
        quota_locks.hold(connection, req.project_id)
    properties = plan.columns['image_properties']
    return _admitted(
        connection, found, req, plan.asked, most=len(plan.uuids), properties=properties
    )


def admitted(
    connection: sa.Connection,
    req: request.Request,
    asked: create_plan.Asked,
    *,
    most: int,
    properties: session.Json,
) -> int:
    """Return how many of `most` servers the quotas permit now. Raise OverQuota.

    properties: those of the image
    """
    found = _scopes(connection, req)
    return _admitted(connection, found, req, asked, most=most, properties=properties)


def _scopes(connection: sa.Connection, req: request.Request) -> list[quota.Scope]:
    return quota.rules(req).scopes(connection, req.project_id, req.user_id)


def _admitted(
    connection: sa.Connection,
    found: Sequence[quota.Scope],
    req: request.Request,
    asked: create_plan.Asked,
    *,
    most: int,
    properties: session.Json,
) -> int:
    rules = quota.rules(req)
    return quota.admit(
        connection,
        rules,
        found,
        req.project_id,
        wanted=most,
        least=asked.least,
        size=rules.size_of(create_flavor.as_dict(asked.flavor), properties),
    )


def _join_group(
    connection: sa.Connection, req: request.Request, group: rows.Row | None, uuids: list[str]
) -> None:
    """Make servers members of their group. Raise OverQuota."""
    if group is None:
        return
    try:
        server_groups.add_members(connection, group, uuids)
    except exception.ServerGroupNotFound as error:
        raise exception.Invalid(error.message) from error
    rules = quota.rules(req)
    limits = rules.limits(connection, req.project_id, req.user_id)
    members = server_groups.members(connection, [group.id]).get(group.id, [])
    rules.require(limits, MEMBERS, len(members))


def _arguments(plan: create_plan.Checked, image: session.Json | None) -> dict[str, typing.Any]:
    asked = plan.asked
    options: dict[str, typing.Any] = {'injected_files': plan.files, 'retry': asked.retries}
    if plan.columns['config_drive']:
        # Only the config drive contains the password, so no record has it without a drive.
        options['admin_pass'] = plan.password
    group = asked.server_group
    if group is not None:
        options['group'] = {
            'uuid': group.uuid,
            'policy': group.policy,
            'rules': group.rules,
        }
    return {
        'requested_networks': plan.networks,
        'image': image,
        'destination': asked.place.destination,
        'retry': asked.retries,
        'options': options,
    }


def _record(
    req: request.Request,
    plan: create_plan.Checked,
    uuid: str,
    *,
    name: str,
    index: int,
    now: datetime.datetime,
) -> dict[str, typing.Any]:
    """Return the columns of the future record of a server, with values for JSON."""
    group = plan.asked.server_group
    values = {
        **plan.columns,
        'uuid': uuid,
        'project_id': req.project_id,
        'user_id': req.user_id,
        'display_name': name,
        'vm_state': str(states.VmState.BUILDING),
        'task_state': str(states.TaskState.SCHEDULING),
        'group_uuid': group.uuid if group else None,
        'availability_zone': plan.zone,
        'launch_index': index,
        'created_at': (now + datetime.timedelta(microseconds=index)).isoformat(),
        'security_groups': [] if plan.networks == 'none' else plan.groups,
    }
    if req.minor < 19:
        values['display_description'] = name
    if not values.get('hostname'):
        values['hostname'] = create_names.hostname(name, uuid)
    return values


def image_meta(
    boot_image: session.Json | None,
    properties: Mapping[str, str | None],
    *,
    boots_from_volume: bool,
) -> session.Json | None:
    """Return the image for the scheduler and the build; without id if a volume is the root disk."""
    if boot_image is None:
        return None
    found = {name: boot_image.get(name) for name in IMAGE_FIELDS}
    found['properties'] = properties
    if boots_from_volume:
        found['id'] = None
    return found


def _spec(
    req: request.Request,
    plan: create_plan.Checked,
    uuid: str,
    *,
    count: int,
    image: session.Json | None,
) -> request_spec.RequestSpec:
    asked, group = plan.asked, plan.asked.server_group
    return request_spec.RequestSpec(
        instance_uuid=uuid,
        project_id=req.project_id,
        user_id=req.user_id,
        num_instances=count,
        flavor=flavor_objects.Flavor(**plan.columns['flavor']),
        image=image_objects.ImageMeta(**image) if image else None,
        availability_zone=plan.zone,
        scheduler_hints=asked.hints,
        force_hosts=list(asked.place.forced_hosts),
        force_nodes=list(asked.place.forced_nodes),
        group_uuid=group.uuid if group else None,
        is_bfv=asked.boots_from_volume,
        security_groups=plan.groups,
    )
