"""Requests that wait for a saga: how many may, and what they answer when it fails."""

import requests

from nova_lite import runtime
from nova_lite.daemons.wsgi import server as wsgi_server
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.saga import journal
from tests.fixtures import compute_api
from tests.unit.api.servers import base

WAIT_S = 60
FAILED = {'type': 'DriverError', 'kind': 'internal', 'message': 'there is no such guest'}


def request(api):
    """Return the body of a request that attaches a volume of its own."""
    volume_id = runtime.new_uuid()
    api.neighbours.volume.add(volume_id)
    return {'volumeAttachment': {'volumeId': volume_id}}


def end(connection, uuid, **values):
    """End a saga, as the engine would."""
    values = {'active_for': None, **values}
    connection.execute(sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid).values(values))


def any_done(answers):
    return any(each.done() for each in answers)


class Case(base.Case):
    overrides = (('api', 'max_waiting_requests', 1), ('api', 'device_timeout', WAIT_S))

    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server()

    def attach(self, uuid, **options):
        path = f'/servers/{uuid}/os-volume_attachments'
        return self.api.call('POST', path, request(self.api), version='2.60', **options)

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


class ServedTest(base.Case):
    """Over HTTP, with the threads and limits of a process that nothing is configured for."""

    overrides = (('api', 'device_timeout', WAIT_S),)
    # As a script does that sets up a dozen servers.
    AT_ONCE = 12

    def setUp(self):
        super().setUp()
        served = wsgi_server.InProcess(self.api.wsgi, threads=self.api.conf.api.threads)
        served.start()
        self.addCleanup(served.stop)
        self.url = f'{served.url}/v2.1'
        self.begun, self.lock, self.is_slow = [], runtime.Condition(), True
        self.api.super_conductor.run_saga = self.run_saga

    def run_saga(self, _ctxt, saga_uuid):
        with self.lock:
            self.begun.append(saga_uuid)
            self.lock.notify_all()
            if not self.is_slow:
                self.done(saga_uuid)

    def answer(self):
        """End the sagas that have begun, and from now on each at once."""
        with self.lock:
            self.is_slow = False
            for saga in self.begun:
                self.done(saga)

    def done(self, saga):
        self.api.api_db.write(end, saga, state=journal.DONE)

    def send(self, method, path, body=None):
        headers = {
            'X-User-Id': compute_api.MEMBER['user'],
            'X-Project-Id': compute_api.MEMBER['project'],
            'X-Roles': 'member',
            'OpenStack-API-Version': 'compute 2.60',
        }
        return requests.request(
            method, self.url + path, json=body, headers=headers, timeout=2 * WAIT_S
        )

    def attach(self, uuid):
        return self.send('POST', f'/servers/{uuid}/os-volume_attachments', request(self.api))

    def test_a_dozen_at_once_on_a_host_that_is_slow(self):
        servers = [self.api.add_server() for _number in range(self.AT_ONCE)]
        with runtime.executor(self.AT_ONCE) as pool:
            answers = [pool.submit(self.attach, uuid) for uuid in servers]
            with self.lock:
                self.lock.wait_for(lambda: self.all_begun() or any_done(answers), WAIT_S)
            waited = self.all_begun() and not any_done(answers)
            others = [self.send('GET', '/servers/detail').status_code for _time in range(3)]
            self.answer()
            codes = [each.result(WAIT_S).status_code for each in answers]
        self.assertEqual(([200] * self.AT_ONCE, [200] * 3, True), (codes, others, waited))

    def all_begun(self):
        return len(self.begun) == self.AT_ONCE


class MovedTest(Case):
    def test_the_server_has_changed_cells_before_the_request_looks_again(self):
        """Its transaction was slow: the sweep had found the saga, and a migration followed."""
        first, second = self.api.cell('cell1'), self.api.cell('cell2')

        def moved(saga):
            self.api.api_db.write(end, saga, state=journal.DONE)
            copy = first.db.read(copies.read, self.uuid)
            second.db.write(copies.create, copy, runtime.new_uuid())
            self.api.api_db.write(instance_mappings.switch, self.uuid, first.id, second.id)
            first.db.write(copies.purge, self.uuid)

        self.on_saga(moved)
        answer = self.attach(self.uuid)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual(self.uuid, answer.json['volumeAttachment']['serverId'])


class RefusalTest(Case):
    def fail(self, error=FAILED, **changes):
        """The code of a request whose saga fails while the server's record changes."""
        cell = self.api.cell('cell1')

        def failed(uuid):
            if changes:
                cell.db.write(instances.force, self.uuid, changes)
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
