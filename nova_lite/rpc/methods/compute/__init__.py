"""The compute daemon: one queue per simulated host, on its cell's bus.

Each module declares the methods of one subject.
"""

from nova_lite import rpc
from nova_lite.rpc.methods.compute import cold_moves
from nova_lite.rpc.methods.compute import devices
from nova_lite.rpc.methods.compute import evacuation
from nova_lite.rpc.methods.compute import guests
from nova_lite.rpc.methods.compute import hosts
from nova_lite.rpc.methods.compute import live_migration


class ComputeAPI(
    guests.Guests,
    devices.Devices,
    cold_moves.ColdMoves,
    live_migration.LiveMigration,
    evacuation.Evacuation,
    hosts.Hosts,
    rpc.Interface,
):
    """All methods of a host. `host` is the host addressed."""

    topic, version = 'compute', '1.0'
    server_argument = 'host'


def queue_of(host: str) -> str:
    """Return the name of a host's queue, which its daemon consumes."""
    return f'{ComputeAPI.topic}.{host}'
