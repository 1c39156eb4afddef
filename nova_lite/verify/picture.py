"""A picture of a cloud: every record, allocation, port, attachment and guest."""

import collections
import dataclasses
import glob
import os

import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import image
from nova_lite.clients import placement
from nova_lite.clients import session
from nova_lite.db import engine
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models
from nova_lite.virt.sim import census

# Who logs placement's answers.
PLACEMENT = 'placement.requestlog'


@dataclasses.dataclass
class CellPicture:
    """What one cell's database holds; rows as they are."""

    name: str
    id: int
    instances: list
    migrations: list
    block_devices: list
    nodes: list


@dataclasses.dataclass
class Picture:
    """Everything at (nearly) one time.

    allocations: {consumer: {provider uuid: {class: amount}}}
    guests: census rows; ports, attachments: as the neighbours give them
    snapshots: images that were made of servers, as `clients.image.of` makes them
    bindings: {id of a port of a server: [host, ...]}
    isolated_aggregates: whether the scheduler keeps servers out of them
    """

    now: object
    mappings: dict
    build_requests: dict
    specs: dict
    sagas: list
    groups: dict
    aggregates: list
    cells: list
    allocations: dict
    guests: list
    ports: list
    attachments: list
    snapshots: list = dataclasses.field(default_factory=list)
    bindings: dict = dataclasses.field(default_factory=dict)
    server_errors: list = dataclasses.field(default_factory=list)
    isolated_aggregates: bool = False

    def instances(self):
        """(cell picture, row) of every server record that is not deleted."""
        for cell in self.cells:
            for row in cell.instances:
                yield cell, row

    def visible(self):
        """{uuid: [(cell picture, row), ...]} without hidden copies."""
        found = collections.defaultdict(list)
        for cell, row in self.instances():
            if not row.hidden:
                found[row.uuid].append((cell, row))
        return found


class Reader:
    """Reads pictures of the cloud in a state directory."""

    def __init__(self, conf, directory, *, tell=lambda text: None):
        self.directory, self._tell = directory, tell
        self.isolated_aggregates = conf.scheduler.enable_isolated_aggregate_filtering
        self.api_db = engine.Database(conf.api_database.connection)
        self.cells = cells_module.Cells(conf, self.api_db)
        self.placement = placement.Placement(conf)
        self.image = image.Image(conf)
        self.network = session.Neighbour(conf, 'neutron', title='network', version='/v2.0')
        self.volume = session.Neighbour(
            conf, 'cinder', title='volume', version='/v3', microversion='volume 3.44'
        )

    def close(self):
        """Give up the connections."""
        self.cells.close()
        self.api_db.dispose()

    def read(self, ctxt):
        """One picture.

        Guests first and allocations last: what is made later than what it belongs
        to must not look like an orphan.
        """
        self._tell('at guests')
        guests = self._guests()
        self._tell('at the databases')
        api = self.api_db.read(_api_rows)
        cells = [self._cell(cell) for cell in self.cells.every()]
        self._tell('at images, ports, volumes and allocations')
        ports = self._all(self.network, ctxt, '/ports', 'ports')
        return Picture(
            now=runtime.naive_now(),
            cells=cells,
            guests=guests,
            ports=ports,
            bindings=self._bindings(ctxt, ports),
            attachments=self._all(
                self.volume,
                ctxt,
                '/attachments/detail',
                'attachments',
                params={'all_tenants': 1},
            ),
            allocations=self._allocations(ctxt),
            snapshots=self.image.list(ctxt, image_type='snapshot'),
            server_errors=server_errors(self.directory),
            isolated_aggregates=self.isolated_aggregates,
            **api,
        )

    def _cell(self, cell):
        found = cell.db.read(_cell_rows)
        return CellPicture(name=cell.name, id=cell.id, **found)

    def _all(self, service, ctxt, path, key, **options):
        return service.get(ctxt, path, **options)[key]

    def _bindings(self, ctxt, ports):
        found = {}
        for port in ports:
            if port['device_owner'].startswith('compute:'):
                response = self.network.call(
                    ctxt, 'GET', f'/ports/{port["id"]}/bindings', errors={404: None}
                )
                if response.status_code == 200:
                    bindings = response.json()['bindings']
                    found[port['id']] = [binding['host'] for binding in bindings]
        return found

    def _allocations(self, ctxt):
        held = collections.defaultdict(dict)
        for provider in self.placement.providers.list(ctxt):
            try:
                found = self.placement.providers.allocations(ctxt, provider.uuid)
            except exception.ResourceProviderNotFound:
                continue  # deleted since it was listed
            for consumer, resources in found.items():
                held[consumer][provider.uuid] = resources
        return dict(held)

    def _guests(self):
        paths = glob.glob(os.path.join(self.directory, 'guests', '*', 'guests.sqlite'))
        return [row for path in sorted(paths) for row in census.guests(path)]


def server_errors(directory):
    """Lines of the logs that tell of an answer 500 of the compute API.

    Placement is another project's program: it answers 500 while its database is away.
    """
    found = []
    for path in glob.glob(os.path.join(directory, 'log', '*.log')):
        with open(path, errors='replace') as lines:
            found.extend(
                line.strip()[-200:]
                for line in lines
                if 'status: 500' in line and PLACEMENT not in line
            )
    return found


def _rows(connection, table, *conditions):
    return connection.execute(sa.select(table).where(*conditions)).all()


def _api_rows(connection):
    m = api_models
    members = collections.defaultdict(set)
    for row in _rows(connection, m.InstanceGroupMember.__table__):
        members[row.group_id].add(row.instance_uuid)
    hosts = collections.defaultdict(set)
    for row in _rows(connection, m.AggregateHost.__table__):
        hosts[row.aggregate_id].add(row.host)
    return {
        'mappings': {r.instance_uuid: r for r in _rows(connection, m.InstanceMapping.__table__)},
        'build_requests': {r.instance_uuid: r for r in _rows(connection, m.BuildRequest.__table__)},
        'specs': {r.instance_uuid: r.spec for r in _rows(connection, m.RequestSpec.__table__)},
        'sagas': _rows(connection, m.Saga.__table__),
        'groups': {
            r.uuid: (r, members[r.id]) for r in _rows(connection, m.InstanceGroup.__table__)
        },
        'aggregates': [(r, hosts[r.id]) for r in _rows(connection, m.Aggregate.__table__)],
    }


def _cell_rows(connection):
    m = cell_models
    instances = m.Instance.__table__
    return {
        'instances': _rows(connection, instances, instances.c.deleted.is_(False)),
        'migrations': _rows(connection, m.Migration.__table__),
        'block_devices': _rows(connection, m.BlockDevice.__table__),
        'nodes': _rows(connection, m.ComputeNode.__table__),
    }
