"""Requests that wait for a saga: how many may, and what they answer when it fails."""

from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.saga import journal
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base

WAIT_S = 60
ATTACH = {'volumeAttachment': {'volumeId': api_neighbours.VOLUME_ID}}
FAILED = {'type': 'DriverError', 'kind': 'internal', 'message': 'there is no such guest'}


def end(connection, uuid, **values):
    """End a saga, as the engine would."""
    values = {'active_for': None, **values}
    connection.execute(sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid).values(values))


class Case(base.Case):
    overrides = (('api', 'max_waiting_requests', 1), ('api', 'device_timeout', WAIT_S))

    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server()

    def attach(self, uuid, **options):
        path = f'/servers/{uuid}/os-volume_attachments'
        return self.api.call('POST', path, ATTACH, version='2.60', **options)

    def on_saga(self, function):
        """Call `function(saga's uuid)` when a request has begun one."""
        self.api.super_conductor.run_saga = lambda _ctxt, saga_uuid: function(saga_uuid)


class WaitersTest(Case):
    def setUp(self):
        super().setUp()
        self.pool = runtime.executor(1)
        self.addCleanup(self.pool.shutdown)
        self.begun = runtime.Event()

    def done(self, uuid):
        self.api.api_db.write(end, uuid, state=journal.DONE)

    def wait_in_vain(self):
        """The answer to be of a request that waits; `done` lets it go on."""
        found = []

        def begun(uuid):
            found.append(uuid)
            self.begun.set()

        self.on_saga(begun)
        answer = self.pool.submit(self.attach, self.uuid)
        self.assertTrue(self.begun.wait(WAIT_S))
        return answer, found[0]

    def test_one_too_many(self):
        answer, saga = self.wait_in_vain()
        other = self.api.add_server()
        refused = self.attach(other)
        self.assertEqual((503, '5'), (refused.status_code, refused.headers['Retry-After']))
        self.assertIsNone(self.api.api_db.read(sagas.find_active, other))
        self.ok('GET', '/servers/detail')
        self.done(saga)
        self.assertEqual(200, answer.result(WAIT_S).status_code)
        self.on_saga(self.done)
        self.assertEqual(200, self.attach(other).status_code)

    def test_an_operation_on_the_same_server(self):
        """It would wait for the other's end."""
        answer, saga = self.wait_in_vain()
        self.refused_act(self.uuid, 'migrate', code=503, who=base.ADMIN)
        self.done(saga)
        self.assertEqual(200, answer.result(WAIT_S).status_code)

    def test_refused_requests_wait_no_longer(self):
        for _time in range(2):
            self.on_saga(lambda uuid: self.api.api_db.write(end, uuid, **self.failed('conflict')))
            self.assertEqual(409, self.attach(self.api.add_server()).status_code)

    def failed(self, kind):
        return {'state': journal.UNDONE, 'error': {**FAILED, 'kind': kind}}


class RefusalTest(Case):
    def fail(self, error=FAILED, **changes):
        """The code of a request whose saga fails while the server's record changes."""
        cell = self.api.cell('cell1')

        def failed(uuid):
            if changes:
                cell.db.write(instances.update, self.uuid, changes)
            self.api.api_db.write(end, uuid, state=journal.UNDONE, error=error)

        self.on_saga(failed)
        return self.attach(self.uuid).status_code

    def test_the_server_is_being_deleted(self):
        self.assertEqual(409, self.fail(task_state='deleting'))

    def test_the_server_is_gone(self):
        self.assertEqual(404, self.fail(deleted=True))

    def test_the_host_failed(self):
        self.assertEqual(500, self.fail())

    def test_by_kind(self):
        kinds = {'invalid': 400, 'forbidden': 403, 'not_found': 404, 'conflict': 409}
        for kind, code in kinds.items():
            self.uuid = self.api.add_server()
            self.assertEqual(code, self.fail({**FAILED, 'kind': kind}))
