"""The NUMA nodes and devices of a host, and the servers that hold parts of them.

A node reports them as plain values, see `topology.Host` and `topology.Held` of nova_lite.virt.
"""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite.db.cell import models

NODES = models.ComputeNode.__table__
# Most devices that an answer lists.
MOST = 200
KIB_PER_MIB = 1024

Json: typing.TypeAlias = dict[str, typing.Any]


def read(connection: sa.Connection, host: str) -> list[Json]:
    """Return the reports of the nodes of a host. Most report nothing."""
    query = sa.select(NODES.c.numa).where(NODES.c.host == host)
    return [found for found in connection.scalars(query) if found and found.get('host')]


def make(reports: Iterable[Json]) -> Json:
    """Return {'nodes': [...], 'devices': [...]} of reports; both are empty for most hosts.

    Each device has `servers`, the UUIDs of those that hold it. `more_devices` says whether there
    are others.
    """
    nodes, devices = list[Json](), list[Json]()
    for report in reports:
        described, guests = report['host'], report.get('guests', {})
        nodes += [_node(node, guests) for node in described['nodes']]
        owners = collections.defaultdict[str, set[str]](set)
        for uuid, parts in guests.items():
            for part in parts:
                for _request, address in part.get('devices', ()):
                    owners[address].add(uuid)
        devices += [_device(device, owners) for device in described.get('devices', ())]
    return {'nodes': nodes, 'devices': devices[:MOST], 'more_devices': len(devices) > MOST}


def _device(device: Json, owners: Mapping[str, set[str]]) -> Json:
    return {
        'address': device['address'],
        'type': device['kind'],
        'ids': f'{device["vendor_id"]}:{device["product_id"]}',
        'node': device['node'],
        'servers': sorted(owners.get(device['address'], ())),
    }


def _node(node: Json, guests: Mapping[str, Iterable[Json]]) -> Json:
    """Return a NUMA node with its CPUs and pages, and how many of these are held."""
    dedicated = set[int]()
    # A server that moves within its host may hold a part twice. Parts of two servers may be equal.
    pages = dict[tuple[str, str], tuple[int, int]]()
    held = [
        (uuid, cell) for uuid, parts in guests.items() for part in parts for cell in part['cells']
    ]
    for uuid, cell in held:
        if cell['node'] != node['id']:
            continue
        dedicated.update(cpu for _guest, cpu in cell['pins'])
        dedicated.update(cell['reserved'])
        if cell['page_kb']:
            count = cell['memory_mb'] * KIB_PER_MIB // cell['page_kb']
            pages[uuid, repr(cell)] = cell['page_kb'], count
    return {
        'id': node['id'],
        'socket': node['socket'],
        'memory_mb': node['memory_mb'],
        'shared': len(node['shared']),
        'dedicated': len(node['dedicated']),
        'dedicated_held': len(dedicated),
        'pages': [
            {
                'size_kb': size,
                'total': total,
                'held': sum(count for kind, count in pages.values() if kind == size),
            }
            for size, total, _reserved in node['pages']
        ],
    }
