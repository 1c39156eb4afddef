"""Documents in the format of EC2: a tree of short texts, by version."""

import typing

from nova_lite.metadata import instance_metadata

VERSIONS = (
    '1.0',
    '2007-01-19',
    '2007-03-01',
    '2007-08-29',
    '2007-10-10',
    '2007-12-15',
    '2008-02-01',
    '2008-09-01',
    '2009-04-04',
)
META_DATA, USER_DATA = 'meta-data', 'user-data'
# {name in meta-data: the version that added it}; other names exist since the first version.
SINCE = {
    'local-hostname': '2007-01-19',
    'public-hostname': '2007-01-19',
    'public-ipv4': '2007-01-19',
    'instance-type': '2007-08-29',
    'block-device-mapping': '2007-12-15',
    'kernel-id': '2008-02-01',
    'ramdisk-id': '2008-02-01',
    'placement': '2008-02-01',
    'instance-action': '2008-09-01',
}
ID_LENGTH = 8
# The key of a directory's name in its parent's list, if the name is not the path.
NAME = '_name'
# A directory, or the text of a file.
Node: typing.TypeAlias = dict[str, 'Node'] | str
Directory: typing.TypeAlias = dict[str, Node]


def meta_data(
    facts: instance_metadata.Facts, version: str, address: str | None = None
) -> Directory:
    """Return the directory meta-data of one of VERSIONS.

    address: the guest's IP address, as the metadata proxy saw it
    """
    # 1.0 sorts before the dates.
    everything = {**_identity(facts), **_network(facts, address), **_machine(facts)}
    return {
        name: node
        for name, node in everything.items()
        if node is not None and version >= SINCE.get(name, VERSIONS[0])
    }


def _identity(facts: instance_metadata.Facts) -> dict[str, Node | None]:
    instance = facts.instance
    name, key = instance.get('key_name'), instance.get('key_data')
    return {
        'instance-id': f'i-{instance.uuid[:ID_LENGTH]}',
        'reservation-id': instance.get('reservation_id') or '',
        'ami-launch-index': str(instance.get('launch_index') or 0),
        'ami-manifest-path': '',
        'ami-id': _id('ami', instance.get('image_ref')) or '',
        'kernel-id': _id('aki', instance.get('kernel_id')),
        'ramdisk-id': _id('ari', instance.get('ramdisk_id')),
        'public-keys': {'0': {NAME: f'0={name}', 'openssh-key': key}} if name and key else None,
    }


def _network(facts: instance_metadata.Facts, address: str | None) -> dict[str, Node | None]:
    fixed, floating = _addresses(facts)
    local = address if address in fixed else next(iter(fixed), '')
    return {
        'hostname': facts.hostname,
        'local-hostname': facts.hostname,
        'public-hostname': facts.hostname,
        'local-ipv4': local,
        'public-ipv4': next(iter(floating), ''),
        'security-groups': '\n'.join(facts.instance.security_groups),
    }


def _machine(facts: instance_metadata.Facts) -> dict[str, Node | None]:
    return {
        'instance-type': facts.instance.flavor.name,
        'instance-action': 'none',
        'placement': {'availability-zone': facts.zone},
        'block-device-mapping': _block_devices(facts),
    }


def _id(prefix: str, uuid: str | None) -> str | None:
    """Return an id in EC2's form. It depends on the uuid alone, so it is the same in each cell."""
    return f'{prefix}-{uuid[:ID_LENGTH]}' if uuid else None


def _addresses(facts: instance_metadata.Facts) -> tuple[list[str], list[str]]:
    """Return the fixed and the floating IPv4 addresses of a server."""
    ips = [
        ip
        for vif in facts.network_info
        for subnet in vif['network']['subnets']
        for ip in subnet['ips']
        if ip['version'] == 4
    ]
    return (
        [ip['address'] for ip in ips],
        [floating['address'] for ip in ips for floating in ip['floating_ips']],
    )


def _block_devices(facts: instance_metadata.Facts) -> Directory:
    """Return {EC2's name: device name} of the root disk, volumes, swap and ephemeral disks."""
    root = facts.instance.get('root_device_name')
    found: Directory = {'ami': root.rpartition('/')[2], 'root': root} if root else {}
    volumes: list[str] = []
    ephemeral: list[str] = []
    for device in facts.block_devices:
        name = device.get('device_name')
        if not name or device.get('boot_index') == 0:
            continue
        if device.destination_type == 'volume':
            volumes.append(name)
        elif device.get('guest_format') == 'swap':
            found['swap'] = name
        else:
            ephemeral.append(name)
    for kind, names in (('ebs', volumes), ('ephemeral', ephemeral)):
        found |= {f'{kind}{index}': name for index, name in enumerate(names)}
    return found
