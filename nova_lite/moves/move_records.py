"""Changes of a server's flavor and devices in the databases of the cell and the API."""

from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.objects import flavor as flavor_objects


def flavor_columns(flavor):
    """Return the columns of a server that follow from its flavor."""
    return {
        'flavor': flavor,
        'flavor_id': flavor['id'],
        **{name: flavor[name] for name in ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb')},
    }


def forget_destination(connection, uuid, zone):
    """Reset the columns that name the destination of a server that does not move."""
    values = {'new_flavor': None, 'availability_zone': zone}
    instances.update(connection, uuid, values)


def change_devices(connection, reserved, connected):
    """Give block devices the attachments of the host that the server is on now.

    reserved: as neighbours.reserve returned it; connected: [{'uuid', 'connection_info'}]
    """
    infos = {device['uuid']: device['connection_info'] for device in connected or ()}
    for uuid, (_former, new) in (reserved or {}).items():
        children.update_block_device(
            connection, uuid, {'attachment_id': new, 'connection_info': infos.get(uuid)}
        )


def change_spec(connection, uuid, **values):
    """Change the stored request of a server, if there is one."""
    if request_specs.stored(connection, [uuid]):
        request_specs.change(connection, uuid, **values)


def save_flavor(connection, uuid, flavor):
    """Store the flavor in the server's request, and count it in quotas."""
    change_spec(connection, uuid, flavor=flavor_objects.Flavor(**flavor))
    instance_mappings.set_size(connection, uuid, flavor['vcpus'], flavor['memory_mb'])
