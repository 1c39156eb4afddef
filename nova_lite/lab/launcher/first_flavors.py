"""The flavors that a new cloud starts with."""

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import flavors

# flavorid, name, vCPUs, memory in MiB, root disk in GiB: those of devstack.
FLAVORS = (
    ('1', 'm1.tiny', 1, 512, 1),
    ('2', 'm1.small', 1, 2048, 20),
    ('3', 'm1.medium', 2, 4096, 40),
    ('4', 'm1.large', 4, 8192, 80),
    ('5', 'm1.xlarge', 8, 16384, 160),
    ('42', 'm1.nano', 1, 192, 1),
    ('84', 'm1.micro', 1, 256, 1),
    ('c1', 'cirros256', 1, 256, 1),
    ('d1', 'ds512M', 1, 512, 5),
    ('d2', 'ds1G', 1, 1024, 10),
    ('d3', 'ds2G', 2, 2048, 10),
    ('d4', 'ds4G', 4, 4096, 20),
)


def create(connection: sa.Connection) -> list[str]:
    """Add the default flavors whose ids and names are free.

    Returns the names of the new flavors.
    """
    known = rows.every(connection, flavors.TABLE)
    taken = {row.flavorid for row in known} | {row.name for row in known}
    added = []
    for flavorid, name, vcpus, memory_mb, root_gb in FLAVORS:
        if {flavorid, name} & taken:
            continue
        values = {
            'flavorid': flavorid,
            'name': name,
            'vcpus': vcpus,
            'memory_mb': memory_mb,
            'root_gb': root_gb,
        }
        flavors.create(connection, values)
        added.append(name)
    return added
