"""Limits under requests that come at the same time, over database servers.

SQLite has one writer at a time, so that nothing can be seen there.
"""

import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite.api import keypairs as keypairs_api
from nova_lite.api import quota
from nova_lite.api import quota_rules
from nova_lite.api import server_groups as server_groups_api
from nova_lite.db.api import quota_locks
from nova_lite.db.api import sagas
from tests.fixtures import compute_api
from tests.fixtures import mariadb
from tests.fixtures import on_servers
from tests.fixtures import postgresql
from tests.unit.api.servers import create_base
from tests.unit.api.servers import test_resize_quota

KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmzrZGzYjYzPXUYRZQFVUQHKNZqRxIbEs0pU1EhvLFU x'
THREADS = 8
WAIT_S = 60
AHEAD_S = 1.5
WHO = {'project_id': 'alpha', 'user_id': 'alice'}


class Races(on_servers.OnServer):
    """Concurrent requests where the limit is one; mixed into a case per server."""

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(compute_api.ComputeApi(cells=1))
        self.rules = quota_rules.Rules(self.api.conf)
        self.pool = runtime.executor(THREADS)
        self.addCleanup(self.pool.shutdown)
        for name in ('key_pairs', 'server_groups'):
            self.api.conf.set_override(name, 1, group='quota')
        # Their locks; who makes one waits for whoever makes the same.
        for holder in ('alpha', quota_locks.of_user('alice')):
            self.api.api_db.write(quota_locks.create, holder)

    def second_within(self, first, *request):
        """The code of a request that comes when `first(connection)` has all but ended."""
        answers = []

        def slow(connection):
            first(connection)
            answers.append(self.pool.submit(self.api.call, *request))
            runtime.wait_all(answers, AHEAD_S)

        self.api.api_db.write(slow)
        return answers[0].result(WAIT_S).status_code

    def test_key_pairs(self):
        def first(connection):
            values = {'name': 'a', 'type': 'ssh', 'public_key': KEY, 'fingerprint': 'f'}
            values['user_id'] = 'alice'
            keypairs_api._store(connection, self.rules, 'alpha', values, imported=True)

        body = {'keypair': {'name': 'b', 'public_key': KEY}}
        self.assertEqual(403, self.second_within(first, 'POST', '/os-keypairs', body))

    def test_server_groups(self):
        def first(connection):
            values = {'uuid': runtime.new_uuid(), 'name': 'a', 'policy': 'affinity', 'rules': {}}
            server_groups_api._store(connection, self.rules, {**values, **WHO})

        body = {'server_group': {'name': 'b', 'policies': ['affinity']}}
        self.assertEqual(403, self.second_within(first, 'POST', '/os-server-groups', body))

    def test_a_lock_that_many_make(self):
        body = {'server_group': {'name': 'b', 'policies': ['affinity']}}
        who = {**compute_api.MEMBER, 'project': 'new'}
        calls = [
            self.pool.submit(self.api.call, 'POST', '/os-server-groups', body, who=who)
            for _ in range(THREADS)
        ]
        codes = sorted(call.result(WAIT_S).status_code for call in calls)
        self.assertEqual([200] + [403] * (THREADS - 1), codes)

    def test_limits_that_are_set_at_once(self):
        calls = [
            self.pool.submit(
                self.api.call,
                'PUT',
                '/os-quota-sets/alpha',
                {'quota_set': {'cores': 30 + number, 'ram': 1000 + number}},
                who=compute_api.ADMIN,
            )
            for number in range(THREADS)
        ]
        self.assertEqual([200] * THREADS, [call.result(WAIT_S).status_code for call in calls])


class ResizeRaces(on_servers.OnServer):
    """Resizes at once, where the quota has room for one; mixed into a case per server."""

    def setUp(self):
        super().setUp()
        self.pool = runtime.executor(THREADS)
        self.addCleanup(self.pool.shutdown)
        self.api.api_db.write(quota_locks.create, 'alpha')

    def test_one_within_another(self):
        """The second has looked at the quota before the first is committed."""
        self.limit(cores=8)
        first, second = (self.api.row(uuid) for uuid in self.servers[:2])
        size = {'vcpus': 4, 'memory_mb': 1024}
        answers = []

        def slow(connection):
            uuid = runtime.new_uuid()
            values = {'uuid': uuid, 'kind': 'resize', 'instance_uuid': first.uuid, 'size': size}
            sagas.create(connection, context.admin(), arguments={}, **values)
            quota.admit_move(connection, quota_rules.Rules(self.api.conf), first, size)
            answers.append(self.pool.submit(self.resize, second.uuid, code=403))
            runtime.wait_all(answers, AHEAD_S)

        self.api.api_db.write(slow)
        answers[0].result(WAIT_S)
        self.assertEqual(8, self.used()[1])

    def test_all_at_once(self):
        self.limit(cores=8)
        body = {'resize': {'flavorRef': '43'}}
        calls = [
            self.pool.submit(self.api.call, 'POST', f'/servers/{uuid}/action', body)
            for uuid in self.servers
        ]
        codes = sorted(call.result(WAIT_S).status_code for call in calls)
        self.assertEqual([202] + [403] * (len(self.servers) - 1), codes)
        self.assertEqual(8, self.used()[1])


class ResizeRacesOnMariaDB(ResizeRaces, test_resize_quota.Case):
    server_class = mariadb.MariaDB


class ResizeRacesOnPostgreSQL(ResizeRaces, test_resize_quota.Case):
    server_class = postgresql.PostgreSQL


class RacesOnMariaDB(Races, testtools.TestCase):
    server_class = mariadb.MariaDB


class RacesOnPostgreSQL(Races, testtools.TestCase):
    server_class = postgresql.PostgreSQL


class NameRaces(on_servers.OnServer):
    """Requests for one name that must be unique, at once; mixed into a case per server."""

    # Without limits: their lock would let one request in after the other, too.
    overrides = (
        (None, 'osapi_compute_unique_server_name_scope', 'project'),
        *(('quota', name, -1) for name in quota.COUNTED),
    )

    def setUp(self):
        super().setUp()
        self.pool = runtime.executor(THREADS)
        self.addCleanup(self.pool.shutdown)

    def codes(self, calls):
        return sorted(call.result(WAIT_S).status_code for call in calls)

    def test_created(self):
        calls = [
            self.pool.submit(self.api.call, 'POST', '/servers', self.body(), version='latest')
            for _number in range(THREADS)
        ]
        self.assertEqual([202] + [409] * (THREADS - 1), self.codes(calls))

    def test_renamed(self):
        body = {'server': {'name': 'web'}}
        servers = [self.api.add_server(display_name=str(number)) for number in range(THREADS)]
        calls = [self.pool.submit(self.api.call, 'PUT', f'/servers/{u}', body) for u in servers]
        self.assertEqual([200] + [409] * (THREADS - 1), self.codes(calls))


class NameRacesOnMariaDB(NameRaces, create_base.Case):
    server_class = mariadb.MariaDB


class NameRacesOnPostgreSQL(NameRaces, create_base.Case):
    server_class = postgresql.PostgreSQL
