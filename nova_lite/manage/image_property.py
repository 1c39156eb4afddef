"""image_property: the properties of images that servers have on record.

A server keeps the properties that its image had when the server was made or rebuilt.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import images
from nova_lite.manage import command

Vm = states.VmState
# A guest is made from its properties when it starts.
WITHOUT_GUEST = (Vm.STOPPED, Vm.SHELVED, Vm.SHELVED_OFFLOADED)
INSTANCE = command.option('uuid', metavar='INSTANCE_UUID', help='uuid of the server')


class WrongState(exception.Invalid):
    msg = (
        'Server %(uuid)s is %(state)s. Stop or shelve it first: the properties of a guest that runs '
        'do not change.'
    )


class NodesKept(exception.Invalid):
    msg = (
        'Server %(uuid)s has a guest, whose NUMA nodes, pinned CPUs and page size do not change. '
        'Offload it first.'
    )


@command.verb(
    'image_property',
    INSTANCE,
    command.option('name', metavar='IMAGE_PROPERTY', help='name of the property'),
)
def show(deployment: command.Deployment, args: command.Args) -> int:
    """Print the value of an image property that a server has on record."""
    found = find(deployment, args.uuid)
    if found is None:
        return 2
    _cell, row = found
    value = (row.image_properties or {}).get(args.name)
    if value is None:
        print(f'Image property {args.name} not found for instance {args.uuid}.')
        return 3
    deployment.found[args.name] = value
    print(value)
    return 0


@command.verb(
    'image_property',
    INSTANCE,
    command.option(
        '--property',
        dest='properties',
        action='append',
        required=True,
        metavar='IMAGE_PROPERTY=VALUE',
        help='the new value of a property; may be repeated',
    ),
    name='set',
)
def set_(deployment: command.Deployment, args: command.Args) -> int:
    """Set image properties that a stopped or shelved server has on record."""
    wanted: dict[str, str] = {}
    for text in args.properties:
        name, equals, value = text.partition('=')
        if not (name and equals and value):
            print(f'--property {text} is not of the form IMAGE_PROPERTY=VALUE.')
            return 4
        wanted[name] = value
    unknown = sorted(name for name in wanted if not _is_known(name))
    if unknown:
        print(f'Not a property of images: {", ".join(unknown)}')
        return 5
    try:
        images.check(wanted)
    except exception.Invalid as error:
        print(error)
        return 6
    found = find(deployment, args.uuid)
    if found is None:
        return 2
    cell, _row = found
    try:
        store(deployment, cell, args.uuid, wanted)
    except (exception.InstanceSealed, WrongState) as error:
        print(error)
        return 3
    except exception.InstanceNotFound as error:
        print(error)
        return 2
    except exception.Invalid as error:
        print(error)
        return 6
    return 0


def store(
    deployment: command.Deployment, cell: cells.Cell, uuid: str, wanted: Mapping[str, str]
) -> None:
    """Change properties in the record of a server and in its request.

    Raise InstanceSealed, InstanceNotFound, WrongState, or Invalid for properties that the flavor or
    the guest contradict.
    """
    properties = cell.db.write(_record, uuid, wanted)
    deployment.api_db.write(_change_spec, uuid, properties)


def _is_known(name: str) -> bool:
    base, _dot, number = name.partition('.')
    return name in images.NAMES or (base in ('hw_numa_cpus', 'hw_numa_mem') and number.isdecimal())


def find(deployment: command.Deployment, uuid: str) -> tuple[cells.Cell, rows.Row] | None:
    """Return (cell, record) of a server. Print that there is none, and return None."""
    mapping = deployment.api_db.read(instance_mappings.find, uuid)
    if mapping is not None and mapping.cell_id is not None:
        cell = deployment.cells.by_id(mapping.cell_id)
        row = cell.db.read(instances.find, uuid)
        if row is not None and not row.deleted:
            return cell, row
    print(f'Instance {uuid} could not be found.')
    return None


def _record(connection: sa.Connection, uuid: str, wanted: Mapping[str, str]) -> dict[str, str]:
    """Change the record in its cell. Return all properties.

    Raise WrongState, NodesKept, or Invalid if the flavor and the properties contradict.
    """
    row = instances.lock(connection, uuid)
    if row.task_state is not None or row.vm_state not in WITHOUT_GUEST:
        raise WrongState(uuid=uuid, state=row.task_state or row.vm_state)
    former = row.image_properties or {}
    properties = {**former, **wanted}
    if _topology(row, properties) != _topology(row, former) and row.host is not None:
        raise NodesKept(uuid=uuid)
    instances.update(
        connection, uuid, {'image_properties': properties}, expect_task=[row.task_state]
    )
    return properties


def _topology(row: rows.Row, properties: Mapping[str, str]) -> tuple[object, ...]:
    """Return the NUMA nodes of a guest, with pages and CPUs. Raise Invalid for a contradiction."""
    asked = constraints.Asked(
        vcpus=row.vcpus,
        memory_mb=row.memory_mb,
        specs=row.flavor.get('extra_specs') or {},
        properties=properties,
        flavor_name=row.flavor['name'],
        image_name='',
        image_id=row.image_ref or '',
    )
    return constraints.of(asked).topology


def _change_spec(connection: sa.Connection, uuid: str, properties: Mapping[str, str]) -> None:
    """Change the request by which the scheduler finds the server's next host."""
    image = request_specs.get(connection, uuid).image
    if image is not None:
        image.properties = {**image.properties, **properties}
        request_specs.change(connection, uuid, image=image)
