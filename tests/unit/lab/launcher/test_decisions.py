"""nova-lite why over a bus: only the scheduler that decided remembers."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.lab import server_names
from nova_lite.lab.launcher import decisions
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.scheduler import manager
from tests.unit.scheduler import cloud


class SchedulersTest(cloud.ManagerTestCase):
    def serve(self, name):
        """One more scheduler, with a memory of its own."""
        self.conf.set_override('host', name)
        made = manager.SchedulerManager(self.conf, self.cells, self.placement, None)
        made.start()
        server = scheduler_rpc.SchedulerAPI.server(self.bus, name, made)
        server.start(override_pool_size=2)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        return made

    def setUp(self):
        super().setUp()
        memory_broker.install()
        url = f'embedded://{self.id()}'
        self.conf.set_override('transport_url', url)
        self.bus = transport.open_bus(self.conf, url)
        self.addCleanup(self.bus.cleanup)
        self.add_host('a')
        self.first, self.second = self.serve('first'), self.serve('second')

    def ask(self, uuid):
        return decisions.ask_all(self.conf, self.cells, uuid, None)

    def test_each_is_asked(self):
        for one in (self.first, self.second):
            self.scheduler = one
            ((uuid, _selections),) = self.decide().items()
            self.assertEqual('a', self.ask(uuid)['chosen'])

    def test_the_newest_counts(self):
        self.scheduler = self.first
        ((uuid, _selections),) = self.decide().items()
        self.decide_again(self.second, uuid)
        self.assertEqual(self.second.why(self.ctxt, uuid)['at'], self.ask(uuid)['at'])

    def decide_again(self, scheduler, uuid):
        spec = cloud.base.make_spec()
        scheduler.select_destinations(self.ctxt, spec, [uuid])

    def test_one_that_died(self):
        self.conf.set_override('host', 'gone')
        manager.SchedulerManager(self.conf, self.cells, self.placement, None).beat()
        ((uuid, _selections),) = self.decide_with(self.first).items()
        self.assertEqual('a', self.ask(uuid)['chosen'])
        self.assertRaises(exception.Unavailable, self.ask, runtime.new_uuid())

    def decide_with(self, scheduler):
        self.scheduler = scheduler
        return self.decide()

    def test_none_remembers(self):
        self.assertRaises(exception.DecisionNotFound, self.ask, runtime.new_uuid())

    def test_names(self):
        self.add_server('a', uuid=(uuid := runtime.new_uuid()))
        self.assertEqual(uuid, server_names.uuid_of(self.cells, 'server'))
        self.assertRaises(exception.InstanceNotFound, server_names.uuid_of, self.cells, 'other')
        self.add_server('a')
        self.assertRaises(exception.NoUniqueMatch, server_names.uuid_of, self.cells, 'server')

    def test_names_while_a_cell_is_down(self):
        self.add_server('a', uuid=(uuid := runtime.new_uuid()))
        (cell2,) = (each for each in self.cells.every() if each.name == 'cell2')

        def fail(*_args, **_kwargs):
            raise exception.Unavailable(service='database', reason='down')

        self.patch(cell2.db, 'read', fail)
        self.assertEqual(uuid, server_names.uuid_of(self.cells, 'server'))
        error = self.assertRaises(exception.Unavailable, server_names.uuid_of, self.cells, 'other')
        self.assertIn('Cell cell2', str(error))
        self.assertIn('server other may be there. Name it by its uuid', str(error))
