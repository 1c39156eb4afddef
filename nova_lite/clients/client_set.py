"""The clients of the services beside compute, with types that the user of the set chooses."""

import typing

Placement_co = typing.TypeVar('Placement_co', covariant=True)
Network_co = typing.TypeVar('Network_co', covariant=True)
Volume_co = typing.TypeVar('Volume_co', covariant=True)
Share_co = typing.TypeVar('Share_co', covariant=True)
Image_co = typing.TypeVar('Image_co', covariant=True)


class Clients(typing.Protocol[Placement_co, Network_co, Volume_co, Share_co, Image_co]):
    """One client for each service."""

    @property
    def placement(self) -> Placement_co: ...

    @property
    def network(self) -> Network_co: ...

    @property
    def volume(self) -> Volume_co: ...

    @property
    def share(self) -> Share_co: ...

    @property
    def image(self) -> Image_co: ...
