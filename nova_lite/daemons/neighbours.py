"""Clients of the image, network, volume and placement services."""

import types

from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.clients import volume


def clients(conf):
    """Clients of all neighbour services."""
    return types.SimpleNamespace(
        image=image.Image(conf),
        network=network.Network(conf),
        volume=volume.Volume(conf),
        placement=placement.Placement(conf),
    )
