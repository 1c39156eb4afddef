"""resize and revertResize: what moves under way count for in quotas."""

from nova_lite import runtime
from nova_lite.db.api import flavors
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quotas
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.saga import journal
from tests.fixtures import servers_api
from tests.unit.api.servers import create_base

SERVERS = 5
BIG = {**servers_api.FLAVOR, 'flavorid': '43', 'name': 'big', 'vcpus': 4, 'memory_mb': 1024}
LEASE_S = 60


class Case(create_base.Case):
    """No process runs the sagas: each move stays open until the test ends it."""

    def setUp(self):
        super().setUp()
        self.big = self.api.api_db.write(flavors.create, dict(BIG))
        self.servers = [self.api.add_server() for _ in range(SERVERS)]

    def limit(self, user_id='', **limits):
        self.api.api_db.write(quotas.set_limits, 'alpha', limits, user_id)

    def used(self, user_id=None):
        return self.api.api_db.read(instance_mappings.usage, 'alpha', user_id)

    def resize(self, uuid, code=202, flavor=BIG):
        value = {'flavorRef': flavor['flavorid']}
        path = f'/servers/{uuid}/action'
        return self.ok('POST', path, {'resize': value}, code=code)

    def end(self, uuid, state=journal.UNDONE):
        """End the move of a server, as the engine would."""
        store = sagas.Journal(self.api.api_db)
        saga = self.api.api_db.read(sagas.find_active, uuid)
        store.finish(store.acquire(saga.uuid, 'test', LEASE_S), state=state)

    def resized(self, **flavors_):
        """A server of flavor 42 whose resize from `flavors_` waits for its end."""
        uuid = self.api.add_server(vm_state='resized', **flavors_)
        values = {'uuid': runtime.new_uuid(), 'instance_uuid': uuid, 'status': 'finished'}
        values |= {'migration_type': 'resize', 'source_compute': 'host1', 'source_node': 'host1'}
        self.api.cell('cell1').db.write(migrations.create, values)
        return uuid


class TestResizeQuota(Case):
    def test_many_resizes_do_not_pass_the_limit(self):
        self.limit(cores=8)
        codes = [
            self.api.call(
                'POST', f'/servers/{uuid}/action', {'resize': {'flavorRef': '43'}}
            ).status_code
            for uuid in self.servers
        ]
        self.assertEqual([202, 403, 403, 403, 403], codes)
        self.assertEqual((SERVERS, 8), self.used()[:2])

    def test_a_refused_resize_leaves_nothing(self):
        self.limit(cores=8)
        self.resize(self.servers[0])
        self.resize(self.servers[1], code=403)
        self.assertIsNone(self.api.api_db.read(sagas.find_active, self.servers[1]))
        self.assertIsNone(self.api.row(self.servers[1]).task_state)

    def test_the_quota_is_named_before_what_nova_checks_later(self):
        bad = {**BIG, 'flavorid': '44', 'name': 'bad', 'extra_specs': {'hw:cpu_policy': 'wrong'}}
        self.api.api_db.write(flavors.create, bad)
        self.resize(self.servers[0], code=400, flavor=bad)
        self.limit(cores=5)
        self.resize(self.servers[0], code=403, flavor=bad)

    def test_room_is_given_back(self):
        self.limit(cores=8)
        self.resize(self.servers[0])
        self.end(self.servers[0])
        self.assertEqual((SERVERS, SERVERS), self.used()[:2])
        self.resize(self.servers[1])

    def test_room_is_given_back_when_the_cell_refuses(self):
        """The server changes after the request has looked at it."""
        self.limit(cores=8)
        uuid, cell = self.servers[0], self.api.cell('cell1')
        write = cell.db.write

        def late(function, *args, **kwargs):
            cell.db.write = write
            write(instances.force, uuid, {'task_state': 'powering-off'})
            return write(function, *args, **kwargs)

        cell.db.write = late
        self.resize(uuid, code=409)
        self.assertEqual((SERVERS, SERVERS), self.used()[:2])

    def test_room_is_given_back_while_the_move_cleans_up(self):
        """A duty holds the server again after its move was undone."""
        self.limit(cores=8)
        uuid, store = self.servers[0], sagas.Journal(self.api.api_db)
        self.resize(uuid)
        saga = self.api.api_db.read(sagas.find_active, uuid).uuid
        undone = store.acquire(saga, 'test', LEASE_S)
        store.clean_later(undone, wake_in_s=0, attempts=1, data={})
        self.assertTrue(store.hold_server(store.acquire(saga, 'test', LEASE_S)))
        self.assertEqual((SERVERS, SERVERS), self.used()[:2])
        self.resize(self.servers[1])

    def test_creations_see_what_resizes_hold(self):
        self.limit(cores=8)
        self.resize(self.servers[0])
        self.refused('POST', '/servers', self.body(), code=403, version='2.37', text='cores')

    def test_a_server_that_shrinks_counts_fully(self):
        large = {'vcpus': 4, 'memory_mb': 1024}
        uuid = self.api.add_server(
            **large, flavor={**BIG, 'id': self.big.id}, flavor_id=self.big.id
        )
        before = self.used()
        self.limit(cores=1)
        self.resize(uuid, flavor=servers_api.FLAVOR)
        self.assertEqual(before, self.used())

    def test_limits_of_a_user(self):
        self.limit('alice', cores=8)
        self.resize(self.servers[0])
        self.resize(self.servers[1], code=403)
        self.assertEqual(8, self.used('alice')[1])
        self.assertEqual(0, self.used('bob')[1])

    def test_limits_of_the_class(self):
        self.api.api_db.write(quotas.set_class, 'default', {'ram': 192 * (SERVERS - 1) + 1024})
        self.resize(self.servers[0])
        self.resize(self.servers[1], code=403)

    def test_without_limit(self):
        self.limit(cores=-1, ram=-1)
        for uuid in self.servers:
            self.resize(uuid)
        self.assertEqual((SERVERS, 4 * SERVERS, 1024 * SERVERS), self.used())

    def test_reverts_do_not_pass_the_limit(self):
        old = {**BIG, 'id': self.big.id}
        first, second = (self.resized(old_flavor=old) for _ in range(2))
        self.limit(cores=SERVERS + 2 + 3)
        self.act(first, 'revertResize')
        self.refused_act(second, 'revertResize', code=403)
        self.end(first, journal.DONE)
        self.act(second, 'revertResize')
