"""libvirt: machine types that servers have on record.

The machine type is the image property hw_machine_type. A server without one has the type that its
host chooses.
"""

import re

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.manage import cells
from nova_lite.manage import command
from nova_lite.manage import image_property

PROPERTY = 'hw_machine_type'
INSTANCES = models.Instance.__table__
# {type: pattern of its versions}. An alias without a version is the newest.
TYPES = {
    'pc': re.compile(r'pc(-i440fx-\S+|-\d\S*)?'),
    'q35': re.compile(r'q35|pc-q35(-\S+)?'),
    'virt': re.compile(r'virt(-\S+)?'),
    's390-ccw-virtio': re.compile(r's390-ccw-virtio(-\S+)?'),
    'pseries': re.compile(r'pseries(-\S+)?'),
}
INSTANCE = image_property.INSTANCE


@command.verb('libvirt', INSTANCE)
def get_machine_type(deployment: command.Deployment, args: command.Args) -> int:
    """Print the machine type that a server has on record."""
    found = image_property.find(deployment, args.uuid)
    if found is None:
        return 2
    _cell, row = found
    machine_type = _of(row)
    if machine_type is None:
        print(f'No machine type registered for instance {args.uuid}')
        return 3
    deployment.found['machine_type'] = machine_type
    print(machine_type)
    return 0


@command.verb(
    'libvirt',
    INSTANCE,
    command.option('machine_type', metavar='MACHINE_TYPE', help='such as pc or pc-q35-8.2'),
    command.flag('--force', 'allow another type, and a type that is not known'),
)
def update_machine_type(deployment: command.Deployment, args: command.Args) -> int:
    """Set the machine type of a stopped or shelved server."""
    found = image_property.find(deployment, args.uuid)
    if found is None:
        return 2
    cell, row = found
    former, wanted = _of(row), args.machine_type
    if not args.force:
        if _kind(wanted) is None:
            print(f'Unsupported machine type {wanted}')
            return 5
        if former is not None and _kind(former) != _kind(wanted):
            print(f'Machine type {former} cannot become {wanted}: use --force for another type')
            return 4
    try:
        image_property.store(deployment, cell, args.uuid, {PROPERTY: wanted})
    except (exception.InstanceSealed, image_property.WrongState) as error:
        print(error)
        return 3
    except exception.InstanceNotFound as error:
        print(error)
        return 2
    deployment.found['machine_type'] = wanted
    print(f'Updated instance {args.uuid} machine type to {wanted} (previously {former})')
    return 0


@command.verb(
    'libvirt', command.option('--cell-uuid', metavar='UUID', help='only servers of this cell')
)
def list_unset_machine_type(deployment: command.Deployment, args: command.Args) -> int:
    """List servers without a machine type on record."""
    every = deployment.cells.every(cell0=False)
    if args.cell_uuid:
        cell = cells.find(deployment, args.cell_uuid)
        if cell is None:
            return 2
        every = [cell]
    unset = sorted(uuid for cell in every for uuid in cell.db.read(_unset))
    deployment.found['unset'] = unset
    if not unset:
        print('No instances found without hw_machine_type set.')
        return 0
    print('\n'.join(unset))
    return 3


def _kind(machine_type: str) -> str | None:
    """Return the key in TYPES of a machine type, or None."""
    return next((name for name, known in TYPES.items() if known.fullmatch(machine_type)), None)


def _of(row: rows.Row) -> str | None:
    return (row.image_properties or {}).get(PROPERTY)


def _unset(connection: sa.Connection) -> list[str]:
    found = rows.every(connection, INSTANCES, deleted=False, hidden=False)
    return [row.uuid for row in found if _of(row) is None]
