"""Records of servers in the API database: none of a server that was archived."""

import contextlib

from nova_lite.lab.launcher import layout
from tests.sim.world import maintenance

SERVERS = 'SELECT uuid FROM instances'
REQUESTS = 'SELECT instance_uuid FROM build_requests'
# What is to be deleted with a server.
TABLES = ('instance_mappings', 'request_specs', 'instance_group_members')


class Records:
    """world: a world.stage.Stage; cloud: a world.cloud.Cloud that is whole"""

    def __init__(self, world, cloud):
        self._world, self._cloud = world, cloud

    def findings(self, _reader):
        """Archive all deleted servers, and yield what is left of them."""
        maintenance.archive(self._cloud)
        there = {uuid for (uuid,) in self._read(layout.API, REQUESTS)}
        for cell in (layout.CELL0, *self._cloud.places.cell_names):
            there |= {uuid for (uuid,) in self._read(cell, SERVERS)}
        for table in TABLES:
            recorded = self._read(layout.API, f'SELECT instance_uuid FROM {table}')
            left = sorted({uuid for (uuid,) in recorded} - there)
            if left:
                yield f'left in {table} after its servers were archived: {left}'

    def _read(self, name, statement):
        with contextlib.closing(self._world.reader(name)) as connection:
            return connection.execute(statement).fetchall()
