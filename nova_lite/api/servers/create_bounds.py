"""Checks that the values of new servers fit into the columns of their records.

The schema has checked the body. Further values come from the image: its owner may give it
properties of any length, and a mapping of block devices of any form.
"""

from collections.abc import Sequence

from nova_lite import exception
from nova_lite.api.servers import create_devices
from nova_lite.db import bounds
from nova_lite.db import rows
from nova_lite.db.cell import models

DEVICES = models.BlockDevice.__table__
INSTANCES = models.Instance.__table__


def check(columns: rows.Values, devices: Sequence[create_devices.Device] = ()) -> None:
    """Raise Invalid or InvalidBDM for a server or devices that no cell could record."""
    for name, fault in bounds.faults(INSTANCES, columns).items():
        raise exception.Invalid(f'Property {name} of the image or server {fault}.')
    for device in devices:
        for name, fault in bounds.faults(DEVICES, device).items():
            raise exception.InvalidBDM(reason=f'{name} {fault}.')
        size = device['volume_size']
        if size is not None and size < 0:
            raise exception.InvalidBDM(reason=f'volume_size {size} is negative.')
