"""World: the databases, clients and options that sagas and builds use.

The classes of the clients document the methods.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite.clients import bindings as binding_client
from nova_lite.clients import client_set
from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import offers
from nova_lite.clients import placement as placements
from nova_lite.clients import plugging
from nova_lite.clients import port_allocations
from nova_lite.clients import providers
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import share as share_client
from nova_lite.clients import volume as volumes
from nova_lite.db import transactions
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.rpcapi import compute as compute_rpc


class Claims(release.Placement, release.Allocations, typing.Protocol):
    """The methods of placement's client for builds, which release and distinguish claims."""

    def holding(self, ctxt: session.Ctxt, consumer: str) -> placements.Holding: ...

    def advance(
        self,
        ctxt: session.Ctxt,
        claims: Sequence[tuple[placements.Consumer, offers.AllocationRequest]],
        generation: int,
    ) -> None: ...


class Providers(typing.Protocol):
    """The methods of placement's client about providers for rebuilds and audits."""

    def list(self, ctxt: session.Ctxt, **filters: typing.Any) -> Sequence[providers.Provider]: ...

    def traits(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]: ...

    def aggregates(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]: ...

    def change_aggregates(
        self, ctxt: session.Ctxt, uuid: str, change: Callable[[set[str]], set[str]]
    ) -> None: ...

    def allocations(self, ctxt: session.Ctxt, uuid: str) -> dict[str, dict[str, int]]: ...


class Placement(Claims, port_allocations.Placement, typing.Protocol):
    """The methods of placement's client for moves, which change the allocations of servers."""

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
    ) -> bool: ...

    def move_allocations(
        self,
        ctxt: session.Ctxt,
        source: str,
        target: str,
        *,
        new: bool = False,
        once: bool = False,
        keep: Collection[str | None] = (),
    ) -> placements.Allocations: ...


class Ports(release.Network, typing.Protocol):
    """The methods of the network service's client that attach and detach a port."""

    def attach(
        self,
        ctxt: session.Ctxt,
        server: networks.Owner,
        request: session.Json,
        *,
        host: str,
        known: Collection[str],
    ) -> session.Json: ...

    def undo_attach(
        self, ctxt: session.Ctxt, server_uuid: str, request: session.Json, *, known: Collection[str]
    ) -> None: ...

    def release_from(
        self, ctxt: session.Ctxt, server_uuid: str, network_info: Iterable[session.Json]
    ) -> None: ...


class Bindings(typing.Protocol):
    """Bindings of ports to hosts."""

    def are_supported(self, ctxt: session.Ctxt) -> bool: ...

    def create(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: binding_client.Allocations = binding_client.NO_ALLOCATIONS,
    ) -> None: ...

    def activate(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
    ) -> None: ...

    def delete(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
    ) -> None: ...


class Network(Ports, plugging.Ports, typing.Protocol):
    """The methods of the network service's client for moves."""

    @property
    def bindings(self) -> Bindings: ...

    def info(
        self, ctxt: session.Ctxt, server_uuid: str, known: Iterable[session.Json] = ()
    ) -> session.Jsons: ...

    def infos(
        self, ctxt: session.Ctxt, known: Mapping[str, Iterable[session.Json]]
    ) -> dict[str, session.Jsons]: ...

    def move(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: binding_client.Allocations = binding_client.NO_ALLOCATIONS,
    ) -> None: ...

    def unbind(
        self, ctxt: session.Ctxt, server_uuid: str, network_info: Iterable[session.Json]
    ) -> None: ...


class Volume(release.Volume, volumes.Attaching, typing.Protocol):
    """The methods of the volume service's client for moves."""

    def get_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> session.Json: ...

    def begin_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None: ...

    def roll_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None: ...

    def complete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None: ...

    def complete_migration(
        self, ctxt: session.Ctxt, volume_id: str, new_volume_id: str, *, error: bool = False
    ) -> str: ...

    def reimage(self, ctxt: session.Ctxt, volume_id: str, image_id: str) -> None: ...

    def snapshots_of(self, ctxt: session.Ctxt, volume_id: str) -> session.Jsons: ...

    def create_snapshot(
        self,
        ctxt: session.Ctxt,
        volume_id: str,
        name: str,
        *,
        metadata: dict[str, str] | None = None,
    ) -> session.Json: ...

    def delete_snapshot(self, ctxt: session.Ctxt, snapshot_id: str) -> None: ...


class Image(release.Image, images.Snapshots, typing.Protocol):
    """The methods of the image service's client for moves."""

    def upload(self, ctxt: session.Ctxt, image_id: str, data: bytes | Iterable[bytes]) -> None: ...


class Scheduler(typing.Protocol):
    """The methods of the scheduler's interface that select hosts."""

    def select_destinations(
        self,
        ctxt: session.Ctxt,
        *,
        spec: request_spec.RequestSpec,
        instance_uuids: Sequence[str],
        alternates: bool = True,
        beside: Sequence[str] = (),
    ) -> list[list[selection.Selection]]: ...


# The clients of all services that moves use.
Clients: typing.TypeAlias = client_set.Clients[
    Placement, Network, Volume, share_client.Access, Image
]


class World(Clients, typing.Protocol):
    """Databases, buses and services. compute: a ComputeAPI client onto a cell's bus"""

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def api_db(self) -> transactions.Database: ...

    @property
    def cells(self) -> deployment.Cells: ...

    @property
    def scheduler(self) -> Scheduler: ...

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI: ...

    def wake(self, uuid: str) -> None: ...
