"""The type of objects that have a client of each service beside compute."""

import typing

from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import share as shares
from nova_lite.clients import volume as volumes


class Clients(typing.Protocol):
    """One client for each service."""

    @property
    def placement(self) -> placements.Placement: ...

    @property
    def network(self) -> networks.Network: ...

    @property
    def volume(self) -> volumes.Volume: ...

    @property
    def share(self) -> shares.Share: ...

    @property
    def image(self) -> images.Image: ...
