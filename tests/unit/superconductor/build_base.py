"""Builds with real databases and doubles for what else they ask."""

import datetime
import types

import fixtures
import testtools

from nova_lite import cells as cells_module
from nova_lite import conf
from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import placement
from nova_lite.db.api import build_requests
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.objects import flavor
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.superconductor import build
from nova_lite.superconductor import world as super_world
from tests.fixtures import cell as cell_fixture
from tests.fixtures import database

FLAVOR = cell_fixture.FLAVOR


class Scheduler:
    """Always chooses `host`; `before` runs while it decides.

    cell_of: {host: uuid of its cell}; other hosts are in the cell of the first one
    """

    def __init__(self, cell_of):
        self.cell_of, self.host, self.error = cell_of, 'host-1', None
        self.before = lambda: None

    def select_destinations(self, ctxt, spec, instance_uuids, alternates=True, beside=()):
        self.before()
        if self.error is not None:
            raise self.error
        return [
            [
                selection.Selection(
                    service_host=self.host,
                    nodename=self.host,
                    compute_node_uuid=runtime.new_uuid(),
                    cell_uuid=self.cell_of.get(self.host, self.cell_of['host-1']),
                    allocation_request='{"allocations": {}}',
                    availability_zone='nova',
                )
            ]
            for _ in instance_uuids
        ]


class Placement:
    """Remembers whose allocations were given up.

    held: {consumer: provider uuids}; `before` runs while a request to release is late
    advanced: generations that claims were raised to; `conflict`: raised instead, if any
    """

    def __init__(self):
        self.freed, self.held, self.advanced, self.conflict = [], {}, [], None
        self.before = lambda: None

    def advance(self, ctxt, claims, generation):
        if self.conflict is not None:
            raise self.conflict
        self.advanced.extend((consumer.uuid, generation) for consumer, _request in claims)

    def delete_allocations(self, ctxt, consumer, *, force=False, keep=()):
        self.freed.append(consumer)
        return True

    def holding(self, ctxt, consumer):
        return placement.Holding(dict.fromkeys(self.held.get(consumer, ()), {'VCPU': 1}))

    def release(self, ctxt, consumer, nodes, *, unless=None):
        self.before()
        if unless is not None and unless():
            return False
        self.freed.append(consumer)
        return True


class Compute:
    """Remembers what was sent."""

    def __init__(self):
        self.built = []

    def build_instance(self, ctxt, host, instance, **_what):
        self.built.append((host, instance.uuid))

    def build_instances(self, ctxt, host, builds):
        self.built.append((host, [each['instance'].uuid for each in builds]))


class World(super_world.World):
    def __init__(self, *args, compute, **kwargs):
        super().__init__(*args, **kwargs)
        self._compute = compute

    def compute(self, cell):
        return self._compute


def _record(uuid, now):
    """The record of a server whose creation was accepted."""
    return {
        'uuid': uuid,
        'project_id': 'p',
        'user_id': 'u',
        'display_name': 'x',
        'vm_state': 'building',
        'task_state': 'scheduling',
        'vcpus': 1,
        'memory_mb': 512,
        'root_gb': 1,
        'ephemeral_gb': 0,
        'flavor': FLAVOR,
        'root_device_name': '/dev/vda',
        'created_at': now.isoformat(),
    }


class BuildTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.api_db = self.useFixture(database.ApiDatabase(threads=16)).database
        self.cell_uuids = {}
        for name in ('cell0', 'cell1', 'cell2'):
            uuid = cells_module.CELL0_UUID if name == 'cell0' else runtime.new_uuid()
            self.cell_uuids[name] = uuid
            cell_db = self.useFixture(database.CellDatabase(threads=16))
            cell_id = self.api_db.write(
                cell_mappings.create,
                {
                    'uuid': uuid,
                    'name': name,
                    'transport_url': 'none:///',
                    'disabled': False,
                    'database_connection': cell_db.url,
                },
            )
            if name != 'cell0':
                self.api_db.write(host_mappings.create_missing, cell_id, [f'host-{name[-1]}'])
        options = conf.make_conf(files=[])
        self.cells = cells_module.Cells(options, self.api_db)
        self.addCleanup(self.cells.close)
        self.scheduler = Scheduler(
            {'host-1': self.cell_uuids['cell1'], 'host-2': self.cell_uuids['cell2']}
        )
        self.placement, self.compute = Placement(), Compute()
        self.world = World(
            options,
            api_db=self.api_db,
            cells=self.cells,
            scheduler=self.scheduler,
            compute=self.compute,
            clients=types.SimpleNamespace(
                placement=self.placement,
                image=None,
                network=None,
                volume=None,
                share=None,
            ),
        )
        self.uuid = self.accept()

    def accept(self, reservation_id='r-1', **values):
        """Accept a server. Return its uuid. values: columns of its record over the usual ones"""
        uuid, now = runtime.new_uuid(), runtime.naive_now()
        spec = request_spec.RequestSpec(
            instance_uuid=uuid, project_id='p', user_id='u', flavor=flavor.Flavor(**FLAVOR)
        )
        record = {**_record(uuid, now), **values}

        def write(connection):
            instance_mappings.create(
                connection,
                {
                    'instance_uuid': uuid,
                    'project_id': 'p',
                    'user_id': 'u',
                    'vcpus': 1,
                    'memory_mb': 512,
                },
            )
            request_specs.create(connection, [spec])
            build_requests.create(
                connection,
                {
                    'instance_uuid': uuid,
                    'project_id': 'p',
                    'reservation_id': reservation_id,
                    'request_id': 'req-1',
                    'instance': record,
                    'block_devices': [],
                    'tags': ['t'],
                    'arguments': {'options': {}},
                    'lease_until': now + datetime.timedelta(seconds=60),
                },
            )

        self.api_db.write(write)
        return uuid

    def attempt(self):
        """A Build of what the API database holds now."""
        return build.Build(
            self.world, context.admin(), self.api_db.read(build_requests.of, [self.uuid])
        )

    def epochs(self):
        return {self.uuid: self.api_db.read(build_requests.get, self.uuid).epoch}

    def take_over(self):
        """The sweep's way: the lease is over, the epoch is raised."""
        self.api_db.write(build_requests.expire, self.epochs())
        batches = self.api_db.write(build_requests.take_over, 60)
        return build.Build(self.world, context.admin(), batches['r-1'])

    def cell(self, name):
        return self.cells.get(self.cell_uuids[name])

    def where(self):
        """Cells that have a record, the cell of the mapping, whether a build request is left."""
        records = [
            name
            for name in self.cell_uuids
            if self.cell(name).db.read(instances.find, self.uuid) is not None
        ]
        mapping = self.api_db.read(instance_mappings.find, self.uuid)
        names = {self.cell(name).id: name for name in self.cell_uuids}
        request = self.api_db.read(build_requests.find, self.uuid)
        return records, mapping and names.get(mapping.cell_id), request is not None

    def chosen(self):
        """Return what the scheduler would answer now."""
        return {self.uuid: self.scheduler.select_destinations(None, None, [self.uuid])[0]}

    def away(self, name):
        """From now on no transaction reaches the cell."""
        cell_db = self.cell(name).db
        cell_db.dispose()
        cell_db._engine = None
        cell_db.url = f'sqlite:///{self.directory}/gone/{name}.sqlite'
