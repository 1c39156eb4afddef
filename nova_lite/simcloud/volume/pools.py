"""/v3/scheduler-stats/get_pools: the two simulated back ends and what their volumes take up."""

from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud.volume import tables

# More than the quotas of any project allow; nothing is refused when a pool is full.
TOTAL_GB = 2**20
FILTERED = 28


def _capabilities(host, allocated_gb):
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


def _allocated(conn):
    """Return {pool: GiB of the volumes that are in it}."""
    allocated = dict.fromkeys(tables.HOSTS, 0)
    for row in database.find_all(conn, tables.volumes):
        allocated[row['admin_metadata'].get(tables.HOST, tables.HOSTS[0])] += row['size']
    return allocated


class PoolResource:
    """Names of the pools, and with `detail` what each can hold and holds."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing pools')
        name = req.get_param('name') if req.context.minor >= FILTERED else None
        names = [host for host in tables.HOSTS if name in (None, host)]
        pools = [{'name': host} for host in names]
        if paging.flag_of(req, 'detail'):
            with self._db.read() as conn:
                allocated = _allocated(conn)
            for pool in pools:
                pool['capabilities'] = _capabilities(pool['name'], allocated[pool['name']])
        resp.media = {'pools': pools}
