"""Two transactions at once on MariaDB and PostgreSQL: who waits sees what was done."""

import datetime
import types

import sqlalchemy as sa
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api.servers import update
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import quotas
from nova_lite.db.api import request_specs
from nova_lite.db.cell import actions
from nova_lite.db.cell import archive
from nova_lite.db.cell import attempts
from nova_lite.db.cell import copies
from nova_lite.db.cell import epochs
from nova_lite.db.cell import fence
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.lifecycle import intents
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import cross_cell
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import request_spec
from tests.fixtures import cell as cell_fixture
from tests.fixtures import database
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers

WAIT_S = 90
RECORD = {
    'project_id': 'p',
    'user_id': 'u',
    'display_name': 'x',
    'vm_state': 'building',
    'task_state': 'scheduling',
    'host': 'host-1',
    'vcpus': 1,
    'memory_mb': 512,
    'root_gb': 1,
    'ephemeral_gb': 0,
    'flavor': {},
}
SAGA = '88888888-8888-4888-8888-888888888888'
ORDER = moves.Order(
    action='attach_volume', changes={'locked': False}, task_states=None, vm_states=None
)
GROUP = {
    'uuid': '99999999-9999-4999-8999-999999999999',
    'policy': 'anti-affinity',
    'rules': {},
}


def _change_zone(connection, uuid, zone):
    """As an unshelve does."""
    request_specs.change(connection, uuid, availability_zone=zone)


def _change_flavor(connection, uuid, flavor):
    """As a resize does."""
    request_specs.change(connection, uuid, flavor=flavor_objects.Flavor(**flavor))


class Isolation:
    """The cases; a class for each kind of server follows."""

    server_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = servers.shared(cls.server_class)

    def setUp(self):
        super().setUp()
        self.useFixture(database.OnServer(self.server))
        self.db = self.useFixture(database.ApiDatabase())
        self.pool = runtime.executor(2)
        self.addCleanup(self.pool.shutdown)

    def request(self, reservation_id, lease_until):
        uuid = runtime.new_uuid()
        values = {
            'instance_uuid': uuid,
            'project_id': 'alpha',
            'reservation_id': reservation_id,
            'request_id': 'req-1',
            'instance': {},
            'block_devices': [],
            'tags': [],
            'arguments': {},
            'lease_until': lease_until,
        }
        self.db.write(build_requests.create, [values])
        return uuid

    def test_use_is_counted_anew_under_the_lock(self):
        self.db.write(quota_locks.create, 'alpha')
        looked = runtime.Event()

        def second(connection):
            quotas.of_project(connection, 'alpha')
            looked.set()
            quota_locks.hold(connection, 'alpha')
            return instance_mappings.usage(connection, 'alpha')

        def first(connection):
            quota_locks.hold(connection, 'alpha')
            found = self.pool.submit(self.db.write, second)
            self.assertTrue(runtime.wait(looked, WAIT_S))
            mapping = {'project_id': 'alpha', 'user_id': 'a', 'vcpus': 2, 'memory_mb': 3}
            instance_mappings.create(connection, [{'instance_uuid': runtime.new_uuid(), **mapping}])
            return found

        found = self.db.write(first)
        self.assertEqual((1, 2, 3), found.result(WAIT_S))

    def test_one_takes_over_what_is_due(self):
        past = runtime.naive_now() - datetime.timedelta(seconds=5)
        uuid = self.request('r-1', past)
        taking = []

        def first(connection):
            mine = build_requests.take_over(connection, 60)
            taking.append(self.pool.submit(self.db.write, build_requests.take_over, 60))
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the lock
            return mine

        mine = self.db.write(first)
        self.assertEqual([uuid], [row.instance_uuid for row in mine['r-1']])
        self.assertEqual({}, taking[0].result(WAIT_S))

    def spec_changed_by(self, first, second):
        """A stored request once both have changed it; `second` comes before `first` ends.

        Each: (function, what it is called with besides the connection and the server)
        """
        uuid = runtime.new_uuid()
        spec = request_spec.RequestSpec(
            instance_uuid=uuid,
            project_id='alpha',
            user_id='a',
            flavor=flavor_objects.Flavor(**cell_fixture.FLAVOR),
        )
        self.db.write(request_specs.create, [spec])

        def both(connection):
            function, argument = first
            function(connection, uuid, argument)
            changing = self.pool.submit(self.db.write, second[0], uuid, second[1])
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the lock
            return changing

        self.db.write(both).result(WAIT_S)
        found = self.db.read(request_specs.get, uuid)
        return found.flavor.flavorid, found.availability_zone

    def test_a_flavor_and_a_zone_are_stored_at_once(self):
        flavor = (_change_flavor, {**cell_fixture.FLAVOR, 'flavorid': 'other'})
        for zone in ((update._store_zone, 'az-1'), (_change_zone, 'az-1')):
            self.assertEqual(('other', 'az-1'), self.spec_changed_by(flavor, zone))
            self.assertEqual(('other', 'az-1'), self.spec_changed_by(zone, flavor))

    def test_an_older_epoch_does_not_end_behind_a_newer(self):
        """A request that passed the fence is done before a newer epoch passes it."""
        cell = self.useFixture(database.CellDatabase())
        older, newer = (context.admin().for_saga(SAGA, epoch) for epoch in (1, 2))
        cell.write(fence.check, older)

        def late(connection):
            fence.check(connection, older)
            passing = self.pool.submit(cell.write, fence.check, newer)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the fence
            return passing, passing.done()

        passing, passed = cell.write(late)
        passing.result(WAIT_S)
        self.assertFalse(passed)

    def test_a_move_that_is_begun_twice_at_once(self):
        cell = self.useFixture(database.CellDatabase())
        uuid, ctxt = runtime.new_uuid(), context.admin()
        cell.write(instances.create, [{**RECORD, 'uuid': uuid}])
        intent = intents.Intent(kind='x', uuid=SAGA, instance_uuid=uuid, order=ORDER)

        def first(connection):
            intents._begin(connection, ctxt, intent)
            other = self.pool.submit(cell.write, intents._begin, ctxt, intent)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the epoch
            return other

        cell.write(first).result(WAIT_S)
        begun = sa.select(actions.ACTIONS.c.action).where(actions.ACTIONS.c.instance_uuid == uuid)
        found = cell.read(lambda connection: connection.scalars(begun).all())
        self.assertEqual(['attach_volume'], found)

    def test_a_request_that_waits_for_its_saga_to_begin(self):
        """It finds the newer epoch, and that what it was to do has been done."""
        cell = self.useFixture(database.CellDatabase())
        uuid, ctxt = runtime.new_uuid(), context.admin()
        cell.write(instances.create, [{**RECORD, 'uuid': uuid}])
        intent = intents.Intent(kind='x', uuid=SAGA, instance_uuid=uuid, order=ORDER)

        def saga(connection):
            epochs.hold(connection, SAGA, 1)
            moves.begin(connection, ctxt, uuid, ORDER)
            request = self.pool.submit(cell.write, intents._begin, ctxt, intent)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the epoch
            return request

        cell.write(saga).result(WAIT_S)

    def coming(self, uuid):
        """Return what is copied of a member of GROUP that moves to host-9 of another cell."""
        migration = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'migration_type': 'resize',
            'status': 'pre-migrating',
            'source_compute': 'host-1',
            'dest_compute': 'host-9',
        }
        record = {**RECORD, 'uuid': uuid, 'host': None, 'group_uuid': GROUP['uuid']}
        return copies.Copy(record, devices=[], tags=[], actions=[], migrations=[migration])

    def test_a_member_that_comes_while_another_is_decided_about(self):
        cell = self.useFixture(database.CellDatabase())
        there = runtime.new_uuid()
        values = {'uuid': there, 'group_uuid': GROUP['uuid'], 'vm_state': 'active'}
        cell.write(instances.create, [{**RECORD, **values}])
        copy = self.coming(runtime.new_uuid())

        def first(connection):
            copies.create(connection, copy, copy.migrations[0]['uuid'])
            group_places.check(connection, copy.instance['uuid'], 'host-9', GROUP)
            other = self.pool.submit(cell.write, group_places.check, there, 'host-9', GROUP)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the records
            return other

        other = cell.write(first)
        self.assertRaises(exception.GroupPolicyViolated, other.result, WAIT_S)

    def test_two_members_that_come_to_a_cell_at_once(self):
        cell = self.useFixture(database.CellDatabase())
        waiting = []

        def move(write):
            copy = self.coming(runtime.new_uuid())
            scope = types.SimpleNamespace(
                uuid=copy.migrations[0]['uuid'],
                instance_uuid=copy.instance['uuid'],
                world=None,  # of other cells only affinity asks
                here=types.SimpleNamespace(copy=lambda: copy),
            )
            there = types.SimpleNamespace(write=write, cell=None)
            choice = types.SimpleNamespace(
                found=types.SimpleNamespace(service_host='host-9', availability_zone=None),
                group=lambda: GROUP,
            )
            crossing = cross_cell.Crossing(
                scope,
                scopes.Route(None, types.SimpleNamespace(cell=there)),
                choice,
                progress=types.SimpleNamespace(events=None),
                departure=None,
                arrival=None,
            )
            crossing.copy()

        def write(function, *args):
            def overtaken(connection):
                function(connection, *args)
                if function is group_places.check:
                    waiting.append(self.pool.submit(move, cell.write))
                    runtime.wait(runtime.Event(), 0.5)  # for the other to come to the records

            cell.write(overtaken)

        move(write)
        self.assertRaises(exception.GroupPolicyViolated, waiting[0].result, WAIT_S)

    def test_who_holds_a_record_sees_what_was_done_to_it(self):
        cell = self.useFixture(database.CellDatabase())
        uuid = runtime.new_uuid()
        cell.write(instances.create, [{**RECORD, 'uuid': uuid, 'hidden': True}])

        def delete(connection):
            instances.update(connection, uuid, {'task_state': 'deleting'})
            other = self.pool.submit(cell.write, instances.held, uuid)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the record
            return other

        self.assertEqual('deleting', cell.write(delete).result(WAIT_S).task_state)

    def test_a_server_that_two_commands_archive_at_once(self):
        cell = self.useFixture(database.CellDatabase())
        uuid = runtime.new_uuid()
        cell.write(instances.create, [{**RECORD, 'uuid': uuid, 'deleted': True}])

        def first(connection):
            other = []

            def forget(_uuids):
                other.append(self.pool.submit(cell.write, archive.archive, 1000))
                runtime.wait(runtime.Event(), 0.5)  # for the other to come to the records

            moved, _uuids = archive.archive(connection, 1000, forget=forget)
            return moved, *other

        moved, other = cell.write(first)
        self.assertEqual(({'instances': 1}, ({}, [])), (moved, other.result(WAIT_S)))
        self.assertEqual(1, cell.write(archive.purge))

    def test_first_calls_at_once_pass_both(self):
        cell = self.useFixture(database.CellDatabase())
        ctxt = context.admin().for_saga(SAGA, 1)

        def first(connection):
            fence.check(connection, ctxt)
            other = self.pool.submit(cell.write, fence.check, ctxt)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the fence
            return other

        cell.write(first).result(WAIT_S)

    def test_clearing_waits_for_a_record_that_is_being_added(self):
        """Else the record of a builder that was taken over would come behind it."""
        cell = self.useFixture(database.CellDatabase())
        uuid = runtime.new_uuid()

        def zombie(connection):
            instances.create(connection, [{**RECORD, 'uuid': uuid}])
            clearing = self.pool.submit(cell.write, attempts.clear, uuid, 1)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the record
            self.assertFalse(clearing.done())
            self.assertEqual(set(), attempts.overtaken(connection, {uuid: 0}))
            return clearing

        self.assertFalse(cell.write(zombie).result(WAIT_S))
        self.assertIsNone(cell.read(instances.find, uuid))

    def test_a_record_that_is_added_while_it_is_cleared(self):
        cell = self.useFixture(database.CellDatabase())
        uuid = runtime.new_uuid()

        def zombie(connection):
            instances.create(connection, [{**RECORD, 'uuid': uuid}])
            return attempts.overtaken(connection, {uuid: 0})

        def clear(connection):
            attempts.clear(connection, uuid, 1)
            adding = self.pool.submit(cell.write, zombie)
            runtime.wait(runtime.Event(), 0.5)  # for the other to come to the record
            return adding

        adding = cell.write(clear)
        self.assertEqual({uuid}, adding.result(WAIT_S))


class TestMariaDBIsolation(Isolation, testtools.TestCase):
    server_class = mariadb.MariaDB


class TestPostgreSQLIsolation(Isolation, testtools.TestCase):
    server_class = postgresql.PostgreSQL
