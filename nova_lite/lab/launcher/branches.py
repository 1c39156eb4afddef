"""A second cloud that continues as a running one is now."""

import os
import tempfile

from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import layout
from nova_lite.wsgi import server

# A cloud with many hosts has large databases.
TIMEOUT_S = 600


def begin(source, target, *, port, fresh, until_exit):
    """Start a cloud in a state directory as the running one of another; return its Running.

    port: 0 for any that is free; fresh, until_exit: as `foreground.run`
    Raise Unavailable or Refused without a snapshot, NotReady if the new cloud does not start.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'cloud.snapshot')
        control_client.Client(source, timeout_s=TIMEOUT_S).post('snapshot', file=path)
        given = {'port': port or server.free_port()}
        snapshot = cloud_snapshots.read(path)
        settings = cloud_snapshots.settings_of(snapshot.manifest, target, given)
        return foreground.run(
            layout.Settings(**settings),
            fresh=fresh,
            detach=True,
            until_exit=until_exit,
            snapshot=snapshot,
        )
