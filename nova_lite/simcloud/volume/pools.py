"""/v3/scheduler-stats/get_pools: the two simulated back ends and the space in use."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import tables

# Larger than any use: a full pool refuses nothing.
TOTAL_GB = 2**20
FILTERED = 28


def _capabilities(host: str, allocated_gb: int) -> bodies.Json:
    return {
        'volume_backend_name': host.partition('#')[2],
        'total_capacity_gb': TOTAL_GB,
        'free_capacity_gb': max(TOTAL_GB - allocated_gb, 0),
        'allocated_capacity_gb': allocated_gb,
        'provisioned_capacity_gb': allocated_gb,
        'reserved_percentage': 0,
        'driver_version': '1.0',
        'storage_protocol': 'fake',
        'multiattach': True,
    }


def _allocated(conn: sa.Connection) -> dict[str, int]:
    """Return {pool: GiB of the volumes in the pool}."""
    allocated = dict.fromkeys(tables.HOSTS, 0)
    for row in database.find_all(conn, tables.volumes):
        allocated[row['admin_metadata'].get(tables.HOST, tables.HOSTS[0])] += row['size']
    return allocated


class PoolResource:
    """Answers requests for the names of the pools, with `detail` also for their capacities."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        req.context.caller.require_admin('listing pools')
        name = req.get_param('name') if req.context.minor >= FILTERED else None
        names = [host for host in tables.HOSTS if name in (None, host)]
        pools: list[bodies.Json] = [{'name': host} for host in names]
        if paging.flag_of(req, 'detail'):
            with self._db.read() as conn:
                allocated = _allocated(conn)
            for pool in pools:
                pool['capabilities'] = _capabilities(pool['name'], allocated[pool['name']])
        resp.media = {'pools': pools}
