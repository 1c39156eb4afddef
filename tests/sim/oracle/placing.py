"""Rules of placing, asked after each commit of a cell or of placement.

All server groups of a history have one policy. A server that is being built, or that could
not be, is not on its host yet. One whose deletion was accepted is no member of its group.
"""

import json

from nova_lite.lab.launcher import layout

THERE = "host IS NOT NULL AND NOT deleted AND vm_state NOT IN ('building', 'error')"
MEMBER = (
    f'group_uuid IS NOT NULL AND {THERE} AND deleted_at IS NULL'
    " AND COALESCE(task_state, '') != 'deleting'"
)
SHARED = f"""
    SELECT group_uuid, host, COUNT(*) FROM instances
    WHERE {MEMBER}
    GROUP BY group_uuid, host HAVING COUNT(*) > ?
"""
HOSTS = f'SELECT group_uuid, host FROM instances WHERE {MEMBER}'
ON_HOST = f'SELECT uuid, flavor FROM instances WHERE host = ? AND {THERE}'
CLAIMED_TWICE = """
    SELECT consumer_id, COUNT(DISTINCT resource_provider_id) FROM allocations
    GROUP BY consumer_id HAVING COUNT(DISTINCT resource_provider_id) > 1
"""

OF_TWO = """
    SELECT volume_id, COUNT(DISTINCT instance_uuid) FROM block_device_mapping
    WHERE volume_id IS NOT NULL
    GROUP BY volume_id HAVING COUNT(DISTINCT instance_uuid) > 1
"""
AT_REST = f'SELECT uuid, node FROM instances WHERE {THERE} AND task_state IS NULL'
CLAIMS = """
    SELECT allocations.consumer_id, resource_providers.name FROM allocations
    JOIN resource_providers ON resource_providers.id = allocations.resource_provider_id
"""


def claimed(databases):
    """Check that what every server needs is claimed on its node. For histories without moves.

    Between an unknown answer and what corrects it, a move may leave a server without.
    """
    databases = dict(databases)
    claims = set(databases.pop(layout.PLACEMENT).execute(CLAIMS).fetchall())
    for connection in databases.values():
        for uuid, node in connection.execute(AT_REST):
            if (uuid, node) not in claims:
                return f'{uuid} is on {node}, where nothing is claimed for it'
    return None


def single_claims(databases):
    """No server holds resources of two hosts: a move holds those of its source itself.

    Not so after an evacuation, until the former host has returned.
    """
    for connection in databases.values():
        for consumer, number in connection.execute(CLAIMED_TWICE):
            return f'{consumer} holds resources of {number} hosts'
    return None


def anti_affinity(most):
    """A rule: no more than so many members of a group on one host."""

    def look(cells):
        for connection in cells.values():
            for group, host, number in connection.execute(SHARED, [most]):
                return f'{number} members of anti-affinity group {group} on {host}'
        return None

    return look


def one_volume(cells):
    """Check that no volume is of two servers: no history has one that may be."""
    for connection in cells.values():
        for volume, number in connection.execute(OF_TWO):
            return f'volume {volume} is of {number} servers'
    return None


def affinity(cells):
    """All members of a group on one host."""
    hosts = {}
    for connection in cells.values():
        for group, host in connection.execute(HOSTS):
            if hosts.setdefault(group, host) != host:
                return f'members of affinity group {group} on {host} and on {hosts[group]}'
    return None


def isolation(host, trait):
    """A rule: on `host` are only servers whose flavors ask for a trait."""

    def look(cells):
        for connection in cells.values():
            for uuid, flavor in connection.execute(ON_HOST, [host]):
                if json.loads(flavor)['extra_specs'].get(f'trait:{trait}') != 'required':
                    return f'{uuid} is on {host}, which is isolated for {trait}'
        return None

    return look
