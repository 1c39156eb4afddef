"""World: what the steps of sagas and builds work with, as far as they use it."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite.clients import bindings as binding_client
from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.clients import plugging
from nova_lite.clients import port_allocations
from nova_lite.clients import providers
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import volume as volumes
from nova_lite.db import engine
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpcapi import compute as compute_rpc


class Holdings(release.Placement, release.Allocations, typing.Protocol):
    """Placement, as builds give up what they claimed."""

    def holding(self, ctxt: session.Ctxt, consumer: str) -> placements.Holding:
        """Return what a consumer holds."""


class Providers(typing.Protocol):
    """Resource providers, as rebuilds and audits use them."""

    def list(self, ctxt: session.Ctxt, **filters: typing.Any) -> Sequence[providers.Provider]:
        """Return the providers that match."""

    def traits(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]:
        """Return (traits, generation) of a provider."""

    def aggregates(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]:
        """Return (uuids of aggregates, generation) of a provider."""

    def change_aggregates(
        self, ctxt: session.Ctxt, uuid: str, change: Callable[[set[str]], set[str]]
    ) -> None:
        """Give a provider the aggregates that `change` makes of those it has."""

    def allocations(self, ctxt: session.Ctxt, uuid: str) -> dict[str, dict[str, int]]:
        """Return {consumer: {resource class: amount}} of a provider."""


class Placement(Holdings, port_allocations.Placement, typing.Protocol):
    """Placement, as moves change what servers hold."""

    @property
    def providers(self) -> Providers: ...

    def claim(
        self,
        ctxt: session.Ctxt,
        consumer: placements.Consumer,
        request: offers.AllocationRequest,
        *,
        new: bool = False,
        free: bool = False,
        beside: Collection[str] | None = None,
    ) -> bool:
        """Take what an allocation request says; False when it is no longer there."""

    def move_allocations(
        self,
        ctxt: session.Ctxt,
        source: str,
        target: str,
        *,
        new: bool = False,
        once: bool = False,
        keep: Collection[str | None] = (),
    ) -> placements.Allocations:
        """Give all that `source` holds to `target`; return what was given."""


class Ports(release.Network, typing.Protocol):
    """The network service, as sagas give a server a port and take one from it."""

    def attach(
        self,
        ctxt: session.Ctxt,
        server: networks.Owner,
        request: session.Json,
        *,
        host: str,
        known: Collection[str],
    ) -> session.Json:
        """Give a server one more port; returns its entry of network_info."""

    def undo_attach(
        self, ctxt: session.Ctxt, server_uuid: str, request: session.Json, *, known: Collection[str]
    ) -> None:
        """Take back what `attach` gave a server."""

    def release_from(
        self, ctxt: session.Ctxt, server_uuid: str, network_info: Iterable[session.Json]
    ) -> None:
        """Take those of the ports that are a server's from it."""


class Bindings(typing.Protocol):
    """Bindings of ports to hosts."""

    def are_supported(self, ctxt: session.Ctxt) -> bool:
        """Return whether a port may have bindings to several hosts."""

    def create(
        self,
        ctxt: session.Ctxt,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: binding_client.Allocations = binding_client.NO_ALLOCATIONS,
    ) -> None:
        """Add an inactive binding to `host` to every port, or to none."""

    def activate(self, ctxt: session.Ctxt, port_ids: Iterable[str], host: str) -> None:
        """Make the bindings to `host` the active ones."""

    def delete(self, ctxt: session.Ctxt, port_ids: Iterable[str], host: str) -> None:
        """Remove the bindings to `host`, where they are."""


class Network(Ports, plugging.Ports, typing.Protocol):
    """The network service, as moves use it."""

    @property
    def bindings(self) -> Bindings: ...

    def info(
        self, ctxt: session.Ctxt, server_uuid: str, known: Iterable[session.Json] = ()
    ) -> session.Jsons:
        """Return network_info as it is now."""

    def move(
        self,
        ctxt: session.Ctxt,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: binding_client.Allocations = binding_client.NO_ALLOCATIONS,
    ) -> None:
        """Bind ports to another host at once."""

    def unbind(self, ctxt: session.Ctxt, network_info: Iterable[session.Json]) -> None:
        """Bind ports to no host."""


class Volume(release.Volume, volumes.Attaching, typing.Protocol):
    """The volume service, as moves use it."""

    def begin_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None:
        """Note that the volume is about to be detached; raises VolumeNotUsable."""

    def roll_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None:
        """Undo `begin_detaching`."""

    def complete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None:
        """Report the volume as in use. Raise AttachmentNotFound."""

    def complete_migration(self, ctxt: session.Ctxt, volume_id: str, new_volume_id: str) -> str:
        """Return the id by which the volume that took another one's place is known."""

    def reimage(self, ctxt: session.Ctxt, volume_id: str, image_id: str) -> None:
        """Start to write another image onto the volume."""


class Image(release.Image, images.Snapshots, typing.Protocol):
    """The image service, as moves use it."""


class Scheduler(typing.Protocol):
    """The scheduler, as who needs a host asks it."""

    def select_destinations(
        self,
        ctxt: session.Ctxt,
        *,
        spec: request_spec.RequestSpec,
        instance_uuids: Sequence[str],
        alternates: bool = True,
        beside: Sequence[str] = (),
    ) -> list[list[selection.Selection]]:
        """Choose and claim a host, and choose alternates, for each server."""


class Clients(typing.Protocol):
    """The clients of all services that moves use."""

    @property
    def placement(self) -> Placement: ...

    @property
    def network(self) -> Network: ...

    @property
    def volume(self) -> Volume: ...

    @property
    def image(self) -> Image: ...


class World(Clients, typing.Protocol):
    """Databases, buses and services. compute: a ComputeAPI client onto a cell's bus"""

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def api_db(self) -> engine.Database: ...

    @property
    def cells(self) -> deployment.Cells: ...

    @property
    def scheduler(self) -> Scheduler: ...

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI: ...

    def wake(self, uuid: str) -> None:
        """Wake a parked saga. It would otherwise poll at its next alarm."""
