"""The entries that `--print-config` reads for the objects that every new cloud has."""

import typing

from nova_lite.lab.launcher import first_flavors as flavors
from nova_lite.lab.launcher.cloud_file import images
from nova_lite.simcloud import options
from nova_lite.simcloud import seed

Json: typing.TypeAlias = dict[str, typing.Any]

CHOSEN = ('type', 'physical_network', 'segment', 'mtu')


def entries(section: str) -> list[Json]:
    """Return the entries of flavors, images or networks."""
    return {'flavors': _flavors, 'images': _images, 'networks': _networks}[section]()


def _flavors() -> list[Json]:
    return [
        {'name': name, 'id': flavor_id, 'vcpus': vcpus, 'ram': ram, 'disk': disk}
        for flavor_id, name, vcpus, ram, disk in flavors.FLAVORS
    ]


def _images() -> list[Json]:
    found = []
    for name, (distribution, size, version, attributes) in seed.IMAGES.items():
        system = {'os_distro': distribution, 'os_version': version, 'os_admin_user': distribution}
        shown = {**seed.EVERY_IMAGE, **system, **attributes}
        entry: Json = {'name': name, 'disk_gb': images.gib(size)}
        entry['properties'] = {k: v for k, v in shown.items() if k not in images.STANDARD}
        found.append(entry | {k: shown[k] for k in ('min_disk', 'min_ram') if k in shown})
    return found


def _networks() -> list[Json]:
    external, private = options.Options.public_cidr, options.Options.private_cidr
    return [
        {'name': 'private', 'subnets': [{'cidr': private}]},
        {
            'name': 'public',
            'project': 'service',
            'external': True,
            'subnets': [{'cidr': external, 'dhcp': False}],
        },
    ]


def essence(section: str, entry: Json) -> Json:
    """Return an entry without the values that a cloud chooses."""
    if section != 'networks':
        return entry
    return {key: value for key, value in entry.items() if key not in CHOSEN}
