"""Who loses the pivot of a build takes back only what is its own."""

import datetime
import types

import fixtures
import testtools

from nova_lite import cells as cells_module
from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.conductor import build
from nova_lite.conductor import super as super_module
from nova_lite.db import engine
from nova_lite.db.api import build_requests
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models as api_models
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.db.cell import models as cell_models
from nova_lite.objects import flavor
from nova_lite.objects import request_spec
from nova_lite.objects import selection

FLAVOR = {
    'id': 1,
    'flavorid': '1',
    'name': 'm1.tiny',
    'vcpus': 1,
    'memory_mb': 512,
    'root_gb': 1,
    'ephemeral_gb': 0,
    'swap': 0,
    'rxtx_factor': 1.0,
    'disabled': False,
    'is_public': True,
    'description': None,
    'extra_specs': {},
}


class Scheduler:
    """Always chooses `host`; `before` runs while it decides."""

    def __init__(self, cell_uuid):
        self.cell_uuid, self.host, self.error = cell_uuid, 'host-1', None
        self.before = lambda: None

    def select_destinations(self, ctxt, spec, instance_uuids, alternates=True):
        self.before()
        if self.error is not None:
            raise self.error
        return [
            [
                selection.Selection(
                    service_host=self.host,
                    nodename=self.host,
                    compute_node_uuid=runtime.new_uuid(),
                    cell_uuid=self.cell_uuid,
                    availability_zone='nova',
                )
            ]
            for _ in instance_uuids
        ]


class Placement:
    """Remembers whose allocations were given up."""

    def __init__(self):
        self.freed = []

    def delete_allocations(self, ctxt, consumer, *, force=False):
        self.freed.append(consumer)
        return True


class Compute:
    """Remembers what was sent."""

    def __init__(self):
        self.built = []

    def build_instance(self, ctxt, host, instance, **_what):
        self.built.append((host, instance.uuid))


class World(super_module.World):
    def __init__(self, *args, compute, **kwargs):
        super().__init__(*args, **kwargs)
        self._compute = compute

    def compute(self, cell):
        return self._compute


class BuildTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.api_db = self.database('api', api_models)
        self.cell_uuids = {}
        for name in ('cell0', 'cell1', 'cell2'):
            uuid = cells_module.CELL0_UUID if name == 'cell0' else runtime.new_uuid()
            self.cell_uuids[name] = uuid
            database = self.database(name, cell_models)
            cell_id = self.api_db.write(
                cell_mappings.create,
                {
                    'uuid': uuid,
                    'name': name,
                    'transport_url': 'none:///',
                    'disabled': False,
                    'database_connection': database.url,
                },
            )
            if name != 'cell0':
                self.api_db.write(host_mappings.create_missing, cell_id, [f'host-{name[-1]}'])
        options = conf.make_conf(files=[])
        self.cells = cells_module.Cells(options, self.api_db)
        self.addCleanup(self.cells.close)
        self.scheduler = Scheduler(self.cell_uuids['cell1'])
        self.placement, self.compute = Placement(), Compute()
        self.world = World(
            options,
            api_db=self.api_db,
            cells=self.cells,
            scheduler=self.scheduler,
            compute=self.compute,
            clients=types.SimpleNamespace(
                placement=self.placement, image=None, network=None, volume=None
            ),
        )
        self.uuid = self.accept()

    def database(self, name, models):
        found = engine.Database(f'sqlite:///{self.directory}/{name}.sqlite')
        models.Base.metadata.create_all(found.engine)
        self.addCleanup(found.dispose)
        return found

    def accept(self, reservation_id='r-1'):
        uuid, now = runtime.new_uuid(), runtime.naive_now()
        spec = request_spec.RequestSpec(
            instance_uuid=uuid, project_id='p', user_id='u', flavor=flavor.Flavor(**FLAVOR)
        )
        record = {
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
            'created_at': now.isoformat(),
        }

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

    def take_over(self):
        """The sweep's way: the lease is over, the epoch is raised."""
        self.api_db.write(build_requests.expire, [self.uuid])
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

    def test_built(self):
        self.attempt().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        row = self.cell('cell1').db.read(instances.get, self.uuid)
        self.assertEqual(
            ('host-1', 'building', 'scheduling', 'nova'),
            (row.host, row.vm_state, row.task_state, row.availability_zone),
        )
        self.assertNotIn('auth_token', row.build['context'])

    def test_no_valid_host(self):
        self.scheduler.error = exception.NoValidHost(reason='nothing fits')
        self.attempt().run()
        self.assertEqual((['cell0'], 'cell0', False), self.where())
        fault = self.cell('cell0').db.read(instances.faults, [self.uuid])[self.uuid]
        self.assertEqual(
            (500, 'No valid host was found. nothing fits'), (fault.code, fault.message)
        )
        self.assertEqual([], self.compute.built)

    def test_an_unmapped_host(self):
        self.scheduler.host = 'elsewhere'
        self.attempt().run()
        self.assertEqual((['cell0'], 'cell0', False), self.where())
        self.assertEqual([self.uuid], self.placement.freed)

    def test_a_cell_that_is_down_holds_up_no_other_build(self):
        """What a former attempt left there is not known; the next batch goes on."""
        waits = self.uuid
        self.uuid = self.accept('r-2')
        self.api_db.write(build_requests.expire, [waits, self.uuid])
        placement = self.world.placement

        class Down(Placement):
            def delete_allocations(self, ctxt, consumer, *, force=False):
                if consumer == waits:
                    raise exception.Unavailable(service='The database', reason='down')
                return placement.delete_allocations(ctxt, consumer, force=force)

        self.world.placement = Down()
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)
        boss.sweep_builds()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertIsNotNone(self.api_db.read(build_requests.find, waits))

    def test_the_scheduler_does_not_answer(self):
        self.scheduler.error = exception.MessagingTimeout(
            service='scheduler', reason='no reply', method='m', topic='t'
        )
        self.attempt().run()
        self.assertEqual(([], None, True), self.where())
        self.scheduler.error = None
        batches = self.api_db.write(build_requests.take_over, 60)
        build.Build(self.world, context.admin(), batches['r-1']).run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_deleted_while_it_was_scheduled(self):
        self.scheduler.before = lambda: self.api_db.write(build_requests.destroy, self.uuid)
        self.attempt().run()
        self.assertEqual(([], None, False), self.where())
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertEqual([], self.compute.built)

    def test_the_same_message_twice(self):
        twin = self.attempt()
        self.attempt().run()
        twin.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed)

    def test_killed_after_its_records_were_made(self):
        dead = self.attempt()
        chosen = {self.uuid: self.scheduler.select_destinations(None, None, [self.uuid])[0]}
        self.cell('cell1').db.write(dead._create_records, chosen)
        self.scheduler.host = 'host-2'
        self.take_over().run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)

    def test_what_a_host_has_begun_is_kept(self):
        """The builder died before it mapped the server; its host found the record."""
        dead = self.attempt()
        chosen = {self.uuid: self.scheduler.select_destinations(None, None, [self.uuid])[0]}
        self.cell('cell1').db.write(dead._create_records, chosen)
        self.cell('cell1').db.write(instances.update, self.uuid, {'task_state': 'spawning'})
        self.scheduler.host = 'host-2'
        self.take_over().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([], self.compute.built)
        self.assertEqual([], self.placement.freed)

    def test_a_zombie_in_another_cell_removes_only_its_own_record(self):
        zombie = self.attempt()

        def overtaken():
            self.scheduler.before = lambda: None
            self.scheduler.host = 'host-2'
            self.take_over().run()
            self.placement.freed.clear()
            self.scheduler.host = 'host-1'

        self.scheduler.before = overtaken
        zombie.run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed, "the allocation is the other one's")

    def test_a_zombie_in_the_same_cell_changes_nothing(self):
        zombie = self.attempt()

        def overtaken():
            self.scheduler.before = lambda: None
            self.take_over().run()
            self.placement.freed.clear()

        self.scheduler.before = overtaken
        zombie.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed)
