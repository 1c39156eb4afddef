"""Mappings in the API database: of servers and hosts to cells that exist, of hosts with servers.

Asked after each commit to the API database or a cell. A build writes the record of its server to
the cell before it maps the server.
"""

from nova_lite.lab.launcher import layout

DANGLING = (
    'SELECT host FROM host_mappings WHERE cell_id NOT IN (SELECT id FROM cell_mappings)',
    'SELECT instance_uuid FROM instance_mappings'
    ' WHERE cell_id IS NOT NULL AND cell_id NOT IN (SELECT id FROM cell_mappings)',
)
HOSTS = 'SELECT host FROM host_mappings'
PLACED = 'SELECT instance_uuid FROM instance_mappings WHERE cell_id IS NOT NULL'
THERE = 'SELECT uuid, host FROM instances WHERE host IS NOT NULL AND NOT deleted AND NOT hidden'


def mapped(databases):
    """Return what is mapped to no cell that exists, or is on a host that is not mapped."""
    databases = dict(databases)
    api = databases.pop(layout.API)
    for statement in DANGLING:
        for (what,) in api.execute(statement):
            return f'{what} is mapped to a cell that does not exist'
    hosts = {host for (host,) in api.execute(HOSTS)}
    placed = {uuid for (uuid,) in api.execute(PLACED)}
    for connection in databases.values():
        for uuid, host in connection.execute(THERE):
            if uuid in placed and host not in hosts:
                return f'{uuid} is on {host}, which is not mapped'
    return None
