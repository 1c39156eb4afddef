"""Clients of the image, network, volume, share and placement services."""

import dataclasses

from oslo_config import cfg

from nova_lite.clients import auth
from nova_lite.clients import identity as identities
from nova_lite.clients import image as images
from nova_lite.clients import keystone_limits
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import share as shares
from nova_lite.clients import volume as volumes
from nova_lite.conf import quota


@dataclasses.dataclass
class Neighbours:
    """A client of each service.

    identity: of Keystone, None where no one asks it; limits: of its limits,
    None unless [quota]driver names them
    """

    image: images.Image
    network: networks.Network
    volume: volumes.Volume
    share: shares.Share
    placement: placements.Placement
    identity: identities.Identity | None = None
    limits: keystone_limits.KeystoneLimits | None = None


def clients(conf: cfg.ConfigOpts, *, identity: bool = False) -> Neighbours:
    """Clients of all neighbour services, which share our tokens. identity: of Keystone, too"""
    credentials = auth.Credentials(conf)
    unified = identity and conf.quota.driver == quota.UNIFIED
    return Neighbours(
        image=images.Image(credentials),
        network=networks.Network(credentials),
        volume=volumes.Volume(credentials),
        share=shares.Share(credentials),
        placement=placements.Placement(credentials),
        identity=identities.Identity(credentials) if identity else None,
        limits=keystone_limits.KeystoneLimits(credentials) if unified else None,
    )
