"""PUT of a server that is being scheduled."""

from nova_lite import runtime
from nova_lite.api.servers import update
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from tests.unit.api.servers import create_base

WAIT_S = 60


class ScheduledTest(create_base.Case):
    def setUp(self):
        super().setUp()
        (request,) = self.create()
        self.request, self.path = request, f'/servers/{request.instance_uuid}'

    def place(self, connection, cell_id):
        build_requests.drop(connection, {self.request.instance_uuid: self.request.epoch})
        instance_mappings.place(connection, [self.request.instance_uuid], cell_id)

    def build(self):
        """As a super-conductor that has read the build request."""
        cell = self.api.cell('cell2')
        record = self.api.record(uuid=self.request.instance_uuid, vm_state='building')
        cell.db.write(instances.create, [record])
        self.api.api_db.write(self.place, cell.id)

    def on_wait(self, function):
        """Call `function()` once, when a request begins to wait."""
        waiters, enter = self.api.app.waiters, self.api.app.waiters.enter

        def entered(req):
            waiters.enter = enter
            enter(req)
            function()

        waiters.enter = entered

    def test_it_waits_for_the_cell(self):
        waits = runtime.Event()
        self.on_wait(waits.set)
        pool = runtime.executor(1)
        self.addCleanup(pool.shutdown)
        answer = pool.submit(self.api.call, 'PUT', self.path, {'server': {'name': 'new'}})
        self.assertTrue(waits.wait(WAIT_S))
        self.build()
        self.assertEqual('new', answer.result(WAIT_S).json['server']['name'])
        self.assertEqual('new', self.api.row(self.request.instance_uuid, 'cell2').display_name)

    def test_not_for_ever(self):
        self.patch(update, 'SCHEDULED_S', 0)
        self.refused('PUT', self.path, {'server': {'name': 'new'}}, code=409, text='not ready')
        self.assertEqual('web', self.ok('PUT', self.path, {'server': {}}).json['server']['name'])

    def test_a_server_that_is_deleted_meanwhile(self):
        self.on_wait(lambda: self.ok('DELETE', self.path, code=204))
        self.refused('PUT', self.path, {'server': {'name': 'new'}}, code=404)
