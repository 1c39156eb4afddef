"""A cloud whose saved state is restored after a while, as by ``nova-lite reset``.

The files stay: all processes end at one moment, and start again after the stored times were moved
ahead as by a restore. The messages on the buses are lost.
"""

import contextlib

from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import layout
from tests.sim import kernel
from tests.sim.world import sqlite


def restore(cloud, buses, seconds):
    """Continue a cloud that is at rest with its state of some time ago. This is no fault.

    buses: {name: broker.Broker}
    """
    for name in cloud.names:
        cloud.kill(name)
    for bus in buses.values():
        for messages in bus.queues.values():
            messages.clear()
    kernel.current().sleep(seconds)
    snapshots = cloud_snapshots.Snapshots(cloud.places)
    changes = snapshots.moved(seconds)
    changes[f'{layout.API}.sqlite'].append((cloud_snapshots.LEASES,))
    for name, path in snapshots.files().items():
        if name.startswith('guests'):
            changes[name].insert(0, (cloud_snapshots.BOOT,))
        _execute(path, changes.get(name, ()))
    for name in cloud.names:
        cloud.start(name)


def _execute(path, statements):
    with contextlib.closing(sqlite.plain_connect(path)) as connection, connection:
        for statement, *values in statements:
            connection.execute(statement, values)
