"""Read snapshots of a cloud from its databases, placement, neighbours and guests' files."""

import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import typing

from oslo_config import cfg
import oslo_messaging
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import quota_rules
from nova_lite.clients import auth
from nova_lite.clients import image
from nova_lite.clients import placement
from nova_lite.clients import providers as providers_module
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.clients import share
from nova_lite.conf import quota as options
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models
from nova_lite.db.cell import services
from nova_lite.rpc import queues
from nova_lite.rpc import transport
from nova_lite.verify import files
from nova_lite.verify import messaging
from nova_lite.verify import observed

ALLOCATION = resource_requests.ALLOCATION


class _Read(typing.NamedTuple):
    """The last reading of a provider.

    state: its generation, and whether its aggregates were read
    is_used: whether it had allocations
    """

    state: tuple[int, bool]
    provider: observed.Provider
    is_used: bool


class Reader:
    """Reads snapshots of a cloud.

    conf: of the control daemons; places: of the files of its hosts and of its logs
    running: whether the daemons run; only then the buses are read
    say: function that is called with a text about the current reading
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        places: files.Places,
        *,
        running: bool = True,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.conf, self._places, self._say = conf, places, say
        self.api_db = transactions.Database(conf.api_database.connection)
        self.cells = cells_module.Cells(conf, self.api_db)
        credentials = auth.Credentials(conf)
        self.placement = placement.Placement(credentials)
        self.image = image.Image(credentials)
        self.network = session.Neighbour(credentials, 'neutron', title='network', version='/v2.0')
        self.volume = session.Neighbour(
            credentials, 'cinder', title='volume', version='/v3', microversion='volume 3.44'
        )
        self.share = share.Share(credentials)
        self._read: dict[str, _Read] = {}
        self._running = running
        self._top: oslo_messaging.Transport | None = None

    def close(self) -> None:
        """Give up the connections."""
        if self._top is not None:
            self._top.cleanup()
        self.cells.close()
        self.api_db.dispose()

    def read(self, ctxt: context.RequestContext) -> observed.Snapshot:
        """Return one snapshot.

        Guests are read first and allocations last, so that an object that is created after its
        owner does not look like an orphan.
        """
        self._say('guests')
        guests = files.guests(self._places)
        self._say('databases')
        api = self.api_db.read(_api_rows, self.conf)
        cells = [self._cell(cell) for cell in self.cells.every()]
        self._say('images, ports, volumes and allocations')
        ports = self.network.get(ctxt, '/ports')['ports']
        return observed.Snapshot(
            now=runtime.naive_now(),
            cells=cells,
            guests=guests,
            ownerless_drives=files.ownerless_drives(self._places),
            ports=ports,
            **self._bindings(ctxt, ports),
            attachments=self._pages(ctxt, '/attachments/detail', 'attachments'),
            volumes=self._pages(ctxt, '/volumes/detail', 'volumes'),
            volume_snapshots=self._pages(ctxt, '/snapshots/detail', 'snapshots'),
            **self._placement(ctxt, with_aggregates=bool(api['aggregates'])),
            queues=self._queues(cells),
            unowned_queues=self._unowned_queues(cells),
            share_locks=self._share_locks(ctxt, cells),
            server_images=[
                image
                for kind in ('snapshot', 'backup')
                for image in self.image.list(ctxt, image_type=kind)
            ],
            server_errors=files.server_errors(self._places),
            isolated_aggregates=self.conf.scheduler.enable_isolated_aggregate_filtering,
            **api,
        )

    def _cell(self, cell: cells_module.Cell) -> observed.CellSnapshot:
        found = cell.db.read(_cell_rows, self.conf.service_down_time)
        return observed.CellSnapshot(name=cell.name, id=cell.id, **found)

    # ---- buses ----

    def _queues(self, snapshots: list[observed.CellSnapshot]) -> list[tuple[str, str, int | None]]:
        """Return [(bus, queue, number of consumers or None), ...] of the required queues."""
        found = []
        if self._running and queues.is_real(self.conf.transport_url):
            if self._top is None:
                self._top = transport.open_bus(self.conf, self.conf.transport_url)
            found.extend(_consumers('top', self._top, messaging.TOP))
        for cell, seen in self._with_broker(snapshots):
            found.extend(_consumers(cell.name, cell.bus, messaging.of_cell(seen)))
        return found

    def _unowned_queues(self, snapshots: list[observed.CellSnapshot]) -> list[tuple[str, str]]:
        """Return [(bus, queue), ...] of the existing queues that have no service."""
        return [
            (bus, queue)
            for cell, seen in self._with_broker(snapshots)
            for bus, queue, consumers in _consumers(
                cell.name, cell.bus, messaging.of_former_hosts(seen)
            )
            if consumers is not None
        ]

    def _with_broker(
        self, snapshots: list[observed.CellSnapshot]
    ) -> Iterator[tuple[cells_module.Cell, observed.CellSnapshot]]:
        """Yield (cell, its snapshot) of those whose bus can be asked."""
        for cell, seen in zip(self.cells.every(), snapshots, strict=True):
            if self._running and not cell.is_cell0 and queues.is_real(cell.bus_url):
                yield cell, seen

    # ---- neighbours ----

    def _pages(self, ctxt: context.RequestContext, path: str, key: str) -> session.Jsons:
        """Return a list of the volume service in full. It answers in pages.

        Cinder does not link to the next page of attachments. A marker may be deleted
        between two requests. An offset is always valid; when others come and go it may name
        an item twice, or miss one: the next snapshot has it.
        """
        found: dict[str, session.Json] = {}
        offset = 0
        while True:
            params = {'all_tenants': 1, 'offset': offset}
            page = self.volume.get(ctxt, path, params=params)[key]
            if not page:
                return list(found.values())
            found.update((each['id'], each) for each in page)
            offset += len(page)

    def _share_locks(
        self, ctxt: context.RequestContext, cells: list[observed.CellSnapshot]
    ) -> session.Jsons:
        """Return the locks of attachments. A cloud without shares may have no such service."""
        try:
            return self.share.locks(ctxt)
        except exception.Unavailable:
            if any(cell.shares for cell in cells):
                raise
            return []

    def _bindings(self, ctxt: context.RequestContext, ports: session.Jsons) -> session.Json:
        """Bindings of the ports of servers, and the allocations for them on each host."""
        bindings, allocations = {}, {}
        for port in ports:
            if port['device_owner'].startswith('compute:'):
                # 400: the port was detached after it was listed.
                response = self.network.call(
                    ctxt, 'GET', f'/ports/{port["id"]}/bindings', errors={400: None, 404: None}
                )
                if response.status_code == 200:
                    found = response.json()['bindings']
                    bindings[port['id']] = [(each['host'], each['status']) for each in found]
                    allocations[port['id']] = {
                        each['host']: each['profile'][ALLOCATION]
                        for each in found
                        if (each.get('profile') or {}).get(ALLOCATION)
                    }
        return {'bindings': bindings, 'port_allocations': allocations}

    def _placement(self, ctxt: context.RequestContext, *, with_aggregates: bool) -> session.Json:
        """Allocations and providers, of which those are read that may have changed.

        Everything changes a provider's generation, but for the loss of allocations.
        with_aggregates: whether there are aggregates, without which nothing is to be said of
            those in placement
        """
        held: dict[str, dict[str, dict[str, int]]] = collections.defaultdict(dict)
        read: dict[str, _Read] = {}
        client = self.placement.providers
        for listed in client.list(ctxt):
            state = listed.generation, with_aggregates
            before = self._read.get(listed.uuid)
            if before is not None and before.state != state:
                before = None
            try:
                if before is None:
                    provider = self._provider(ctxt, listed, with_aggregates=with_aggregates)
                    found = client.allocations(ctxt, listed.uuid)
                else:
                    provider = before.provider
                    found = client.allocations(ctxt, listed.uuid) if before.is_used else {}
            except exception.ResourceProviderNotFound:
                continue  # deleted since it was listed
            read[listed.uuid] = _Read(state, provider, is_used=bool(found))
            for consumer, resources in found.items():
                held[consumer][listed.uuid] = resources
        self._read = read
        return {
            'allocations': dict(held),
            'providers': {uuid: each.provider for uuid, each in read.items()},
        }

    def _provider(
        self,
        ctxt: context.RequestContext,
        provider: providers_module.Provider,
        *,
        with_aggregates: bool,
    ) -> observed.Provider:
        client = self.placement.providers
        aggregates = client.aggregates(ctxt, provider.uuid)[0] if with_aggregates else ()
        return observed.Provider(
            provider.name,
            client.inventories(ctxt, provider.uuid)[0],
            frozenset(client.traits(ctxt, provider.uuid)[0]),
            frozenset(aggregates),
            provider.root,
        )


def _consumers(
    name: str, bus: oslo_messaging.Transport, wanted: Iterable[str]
) -> list[tuple[str, str, int | None]]:
    try:
        found = queues.consumers(bus, wanted)
    except oslo_messaging.MessageDeliveryFailure as error:
        raise exception.Unavailable(service=f'bus of {name}', reason=error) from error
    return [(name, queue, consumers) for queue, consumers in found.items()]


# ---- databases ----


def _hosts(column: sa.Column[typing.Any]) -> sa.Select[tuple[typing.Any]]:
    return sa.select(column).where(column.is_not(None)).distinct()


_EVENTS = cell_models.InstanceActionEvent.__table__
_ACTIONS = cell_models.InstanceAction.__table__
_OPEN_EVENTS = (
    sa.select(_EVENTS, _ACTIONS.c.action, _ACTIONS.c.instance_uuid)
    .join(_ACTIONS, _ACTIONS.c.id == _EVENTS.c.action_id)
    .where(_EVENTS.c.finish_time.is_(None))
)
_EVENTLESS = sa.select(_ACTIONS).where(
    _ACTIONS.c.finish_time.is_(None), _ACTIONS.c.id.not_in(sa.select(_EVENTS.c.action_id))
)
_HOSTS = (
    _hosts(cell_models.Instance.__table__.c.host),
    _hosts(cell_models.Migration.__table__.c.source_compute),
    _hosts(cell_models.Migration.__table__.c.dest_compute),
    _hosts(_EVENTS.c.host),
)


def _api_rows(connection: sa.Connection, conf: cfg.ConfigOpts) -> session.Json:
    m = api_models
    members = collections.defaultdict(set)
    for row in rows.every(connection, m.InstanceGroupMember.__table__):
        members[row.group_id].add(row.instance_uuid)
    hosts = collections.defaultdict(set)
    for row in rows.every(connection, m.AggregateHost.__table__):
        hosts[row.aggregate_id].add(row.host)
    mappings = rows.every(connection, m.InstanceMapping.__table__)
    requests = rows.every(connection, m.BuildRequest.__table__)
    return {
        'mappings': {r.instance_uuid: r for r in mappings},
        'build_requests': {r.instance_uuid: r for r in requests if not r.withdrawn},
        'withdrawn': {r.instance_uuid: r for r in requests if r.withdrawn},
        'specs': {r.instance_uuid: r.spec for r in rows.every(connection, m.RequestSpec.__table__)},
        'sagas': rows.every(connection, m.Saga.__table__),
        'groups': {
            r.uuid: (r, members[r.id]) for r in rows.every(connection, m.InstanceGroup.__table__)
        },
        'aggregates': [(r, hosts[r.id]) for r in rows.every(connection, m.Aggregate.__table__)],
        'host_mappings': rows.every(connection, m.HostMapping.__table__),
        'limits': {
            project: quota_rules.Rules(conf).limits(connection, project)
            for project in {row.project_id for row in mappings}
            # Those of the identity service are not read.
            if conf.quota.driver == options.STORED
        },
    }


def _cell_rows(connection: sa.Connection, down_time_s: float) -> session.Json:
    m, found = cell_models, services.every(connection)
    return {
        'instances': rows.every(connection, m.Instance.__table__, deleted=False),
        'migrations': rows.every(connection, m.Migration.__table__),
        'block_devices': rows.every(connection, m.BlockDevice.__table__),
        'shares': rows.every(connection, m.ShareMapping.__table__),
        'nodes': rows.every(connection, m.ComputeNode.__table__),
        'services': found,
        'open_events': connection.execute(_OPEN_EVENTS).all(),
        'eventless': connection.execute(_EVENTLESS).all(),
        'former_hosts': _named_hosts(connection) - {service.host for service in found},
        'down': frozenset(
            service.host
            for service in found
            if service.binary == services.COMPUTE and not services.is_up(service, down_time_s)
        ),
    }


def _named_hosts(connection: sa.Connection) -> frozenset[str]:
    """Return hosts that records name, those of deleted servers included."""
    return frozenset(host for query in _HOSTS for host in connection.scalars(query))
