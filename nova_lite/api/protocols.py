"""The App and the parts of other services' clients that handlers use."""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite import policies
from nova_lite.api import waiting
from nova_lite.clients import client_set
from nova_lite.clients import image as images
from nova_lite.clients import port_allocations
from nova_lite.clients import providers
from nova_lite.clients import release
from nova_lite.clients import requested
from nova_lite.clients import session
from nova_lite.db import transactions
from nova_lite.rpcapi import compute as compute_rpc


class Image(release.Image, images.Snapshots, typing.Protocol):
    """The image service."""

    def url_of(self, image_id: str) -> str:
        """Return the address of an image."""


class GroupNames(typing.Protocol):
    """Names of security groups."""

    def of(self, ctxt: session.Ctxt, ids: Iterable[str]) -> dict[str, str] | None:
        """Return {id: name} of groups that the caller may see; None if there is no answer."""


class SecurityGroups(typing.Protocol):
    """Security groups by name."""

    @property
    def names(self) -> GroupNames: ...

    def validate(self, ctxt: session.Ctxt, names_or_ids: Iterable[str], /) -> list[str]:
        """Return the ids of groups; raises SecurityGroupNotUsable."""

    def find(self, ctxt: session.Ctxt, project_id: str | None, name_or_id: str, /) -> session.Json:
        """Return a group of a project; raises SecurityGroupNotFound."""

    def of_server(self, ctxt: session.Ctxt, server_uuid: str) -> session.Jsons:
        """Return the groups on any port of the server, with their rules."""

    def on_ports(
        self, ctxt: session.Ctxt, server_uuid: str
    ) -> tuple[session.Jsons, dict[str, list[str]]]:
        """Return these groups, and {id of a port: ids of its groups}."""

    def add(self, ctxt: session.Ctxt, server_uuid: str, group: session.Json) -> None:
        """Put a group on every port of the server that can have one."""

    def remove(self, ctxt: session.Ctxt, server_uuid: str, group: session.Json) -> None:
        """Take a group off every port of the server."""


class Network(typing.Protocol):
    """The network service."""

    @property
    def security_groups(self) -> SecurityGroups: ...

    def list(self, ctxt: session.Ctxt, kind: str, **filters: typing.Any) -> session.Jsons:
        """Return all things of a kind ('ports', 'networks', …) that match the filters."""

    def validate(
        self,
        ctxt: session.Ctxt,
        wanted: requested.Wanted | None,
        count: int = 1,
        *,
        may_attach_external: bool = False,
    ) -> tuple[requested.Wanted, int]:
        """Check what a user asks for; see Requested.validate."""

    def info(
        self, ctxt: session.Ctxt, server_uuid: str, known: Iterable[session.Json] = ()
    ) -> session.Jsons:
        """Return network_info as it is now."""

    def ports(self, ctxt: session.Ctxt, server_uuid: str) -> session.Jsons:
        """Return the ports of a server."""

    def get_port(self, ctxt: session.Ctxt, port_id: str, *, as_user: bool = False) -> session.Json:
        """Return a port; raises PortNotFound."""

    def has_resource_request(self, ctxt: session.Ctxt, server_uuid: str) -> bool:
        """Return whether a port of the server asks placement for resources."""


class Volume(typing.Protocol):
    """The volume service."""

    def get(self, ctxt: session.Ctxt, volume_id: str) -> session.Json:
        """Return the volume. Raise VolumeNotFound."""

    def require_type(self, ctxt: session.Ctxt, id_or_name: str) -> None:
        """Raise VolumeTypeNotFound unless the user may create volumes of this type."""

    def check_attachable(
        self,
        volume: session.Json,
        *,
        instance_uuid: str | None = None,
        availability_zone: str | None = None,
    ) -> None:
        """Raise VolumeNotUsable unless the volume can be attached to a server."""

    def serves(self, volume: session.Json, availability_zone: str | None) -> bool:
        """Return whether servers of this zone, if one is known, may use the volume."""

    def create_attachment(
        self, ctxt: session.Ctxt, volume_id: str, instance_uuid: str
    ) -> session.Json:
        """Reserve the volume for a server; returns {'id', 'connection_info'}."""

    def get_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> session.Json:
        """Return an attachment; raises AttachmentNotFound."""

    def list_attachments(self, ctxt: session.Ctxt, instance_uuid: str) -> session.Jsons:
        """Return the attachments of a server."""

    def delete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None:
        """End an attachment, if it exists."""

    def get_snapshot(self, ctxt: session.Ctxt, snapshot_id: str) -> session.Json:
        """Return a snapshot; raises SnapshotNotFound."""

    def report_snapshot(self, ctxt: session.Ctxt, snapshot_id: str, status: str) -> None:
        """Report the part of a host in a snapshot as done."""


class Providers(port_allocations.Providers, typing.Protocol):
    """Resource providers."""

    def find_by_name(self, ctxt: session.Ctxt, name: str) -> providers.Provider | None:
        """Return a provider, or None."""

    def allocations(self, ctxt: session.Ctxt, uuid: str) -> dict[str, dict[str, int]]:
        """Return {consumer uuid: {resource class: amount}} on a provider."""

    def traits(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]:
        """Return (traits, generation) of a provider."""

    def add_to_aggregate(self, ctxt: session.Ctxt, uuid: str, aggregate: str) -> None:
        """Make a provider a member of an aggregate."""

    def remove_from_aggregate(self, ctxt: session.Ctxt, uuid: str, aggregate: str) -> None:
        """Take a provider out of an aggregate."""

    def delete_tree(self, ctxt: session.Ctxt, root: str) -> None:
        """Delete a provider and all below it, if they exist."""


class Placement(port_allocations.Placement, release.Allocations, typing.Protocol):
    """Placement."""

    @property
    def providers(self) -> Providers: ...


class Share(typing.Protocol):
    """The shared file system service."""

    def get(self, ctxt: session.Ctxt, share_id: str) -> session.Json:
        """Return {'id', 'status', 'protocol', 'export_location'}. Raise ShareNotFound."""


# The clients of the services that the API asks.
Clients: typing.TypeAlias = client_set.Clients[Placement, Network, Volume, Share, Image]


class Identity(typing.Protocol):
    """The identity service."""

    def require_project(self, ctxt: session.Ctxt, project_id: str) -> None:
        """Raise Invalid when the identity service knows no such project."""


class SuperConductor(typing.Protocol):
    """The super-conductors, as the API sends them work."""

    def build_servers(self, ctxt: session.Ctxt, *, uuids: Sequence[str]) -> None:
        """Build servers whose build requests were just accepted together."""

    def require_answers(self) -> None:
        """Raise BusUnavailable unless the bus confirms a message."""

    def run_saga(self, ctxt: session.Ctxt, *, saga_uuid: str) -> None:
        """Run a saga whose row was just made."""

    def cache_images(
        self, ctxt: session.Ctxt, *, aggregate_id: int, image_ids: Sequence[str]
    ) -> None:
        """Cache images on the hosts of an aggregate."""


class App(Clients, typing.Protocol):
    """Databases and clients of handlers: see `app.App`. compute: a ComputeAPI client of a cell"""

    zones: tuple[frozenset[str], float]

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def api_db(self) -> transactions.Database: ...

    @property
    def cells(self) -> deployment.Cells: ...

    @property
    def policy(self) -> policies.Enforcer: ...

    @property
    def identity(self) -> Identity | None: ...

    @property
    def super_conductor(self) -> SuperConductor: ...

    @property
    def waiters(self) -> waiting.Waiters: ...

    def compute(self, cell: deployment.Cell) -> compute_rpc.ComputeAPI: ...
