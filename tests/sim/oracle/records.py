"""Records of servers in the API database: none of an archived one, and each of its own image."""

import contextlib

from nova_lite.db.api import request_specs
from nova_lite.lab.launcher import layout
from tests.sim.world import maintenance

SERVERS = 'SELECT uuid FROM instances'
AT_REST = (
    'SELECT uuid, image_ref FROM instances WHERE NOT deleted AND NOT hidden AND task_state IS NULL'
)
REQUESTS = 'SELECT instance_uuid FROM build_requests'
# What is to be deleted with a server.
TABLES = ('instance_mappings', 'request_specs', 'instance_group_members')


class Records:
    """world: a world.stage.Stage; cloud: a world.cloud.Cloud that is whole"""

    def __init__(self, world, cloud):
        self._world, self._cloud = world, cloud

    def findings(self, reader):
        """Archive all deleted servers, and yield what is left of them."""
        maintenance.archive(self._cloud)
        yield from self._images(reader)
        there = {uuid for (uuid,) in self._read(layout.API, REQUESTS)}
        for cell in (layout.CELL0, *self._cloud.places.cell_names):
            there |= {uuid for (uuid,) in self._read(cell, SERVERS)}
        for table in TABLES:
            recorded = self._read(layout.API, f'SELECT instance_uuid FROM {table}')
            left = sorted({uuid for (uuid,) in recorded} - there)
            if left:
                yield f'left in {table} after its servers were archived: {left}'

    def _images(self, reader):
        """Yield servers at rest for which later moves would need another image than they have."""
        for cell in self._cloud.places.cell_names:
            for uuid, image in self._read(cell, AT_REST):
                spec = reader.api_db.read(request_specs.get, uuid)
                wanted = spec.image.id if spec.image else None
                if image and wanted and wanted != image:
                    yield f'server {uuid} has image {image}, its request {wanted}'

    def _read(self, name, statement):
        with contextlib.closing(self._world.reader(name)) as connection:
            return connection.execute(statement).fetchall()
