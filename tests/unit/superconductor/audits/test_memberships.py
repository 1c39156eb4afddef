"""Aggregates of placement that differ from those on record, with the real placement."""

import types

import testtools

from nova_lite import conf as configuration
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.clients import providers
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from nova_lite.superconductor.audits import memberships
from tests.fixtures import clock
from tests.fixtures import compute_api
from tests.fixtures import placement as placement_fixture


class Base(testtools.TestCase):
    """Hosts h1 and h2; the former is on record in `one`."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.service = self.useFixture(placement_fixture.Placement())
        self.conf = configuration.make_conf([], files=[])
        for name, value in (('auth_type', 'none'), ('endpoint_override', self.service.url)):
            self.conf.set_override(name, value, group='placement')
        self.conf.set_override('connect_retries', 0, group='placement')
        self.client = placement.Placement(auth.Credentials(self.conf))
        self.ctxt = context.admin()
        self.api = self.useFixture(compute_api.ComputeApi(placement=self.client))
        self.api_db = self.api.api_db
        self.world = types.SimpleNamespace(
            conf=self.conf, api_db=self.api_db, cells=self.api.cells, placement=self.client
        )
        self.audit = memberships.Audit(self.world)
        self.h1, self.h2 = self.add_host('h1'), self.add_host('h2', 'cell2')
        self.one = self.create('one')
        self.api_db.write(aggregates.add_host, self.one.id, 'h1')

    def add_host(self, name, cell='cell1'):
        node = self.api.add_host(name, cell)
        self.client.providers.ensure(self.ctxt, node, name)
        return node

    def create(self, name):
        return self.api_db.write(aggregates.create, uuid=runtime.new_uuid(), name=name, metadata={})

    def put(self, node, *uuids):
        """Make these the provider's aggregates."""
        self.client.providers.change_aggregates(self.ctxt, node, lambda _current: set(uuids))

    def of(self, node):
        return self.client.providers.aggregates(self.ctxt, node)[0]

    def stamp(self):
        return self.api_db.read(stamps.every)[stamps.AGGREGATES]

    def run_audit(self):
        """The requests it made."""
        self.service.requests.clear()
        self.audit.run()
        return list(self.service.requests)


class AuditTest(Base):
    def test_members_are_added_and_removed_and_aggregates_of_others_stay(self):
        foreign = runtime.new_uuid()
        self.put(self.h1, foreign)
        self.put(self.h2, foreign, self.one.uuid)
        before = self.stamp()
        self.audit.run()
        self.assertEqual({foreign, self.one.uuid}, self.of(self.h1))
        self.assertEqual({foreign}, self.of(self.h2))
        self.assertGreater(self.stamp(), before)

    def test_one_request_for_an_aggregate_that_does_not_differ(self):
        self.create('two')
        self.audit.run()
        before = self.stamp()
        self.assertEqual(['GET'] * 2, [method for method, _path in self.run_audit()])
        self.assertEqual(before, self.stamp())

    def test_a_provider_that_was_registered_again(self):
        """It has lost its aggregates."""
        self.audit.run()
        self.client.providers.delete(self.ctxt, self.h1)
        self.client.providers.ensure(self.ctxt, self.h1, 'h1')
        self.audit.run()
        self.assertEqual({self.one.uuid}, self.of(self.h1))

    def test_no_request_without_aggregates(self):
        self.api_db.write(aggregates.remove_host, self.one.id, 'h1')
        self.api_db.write(aggregates.destroy, self.one.id)
        self.api_db.write(aggregates.forget_deleted, [self.one.uuid])
        self.assertEqual([], self.run_audit())

    def test_a_node_without_provider_holds_up_no_other(self):
        self.api_db.write(aggregates.add_host, self.one.id, 'h2')
        for gone, other in ((self.h1, self.h2), (self.h2, self.h1)):
            self.put(other)
            self.client.providers.delete(self.ctxt, gone)
            self.audit.run()
            self.assertEqual({self.one.uuid}, self.of(other))
            self.client.providers.ensure(self.ctxt, gone, f'{gone} again')

    def test_placement_is_away(self):
        self.world.placement = types.SimpleNamespace(providers=Away())
        self.audit.run()
        self.world.placement = self.client
        self.audit.run()
        self.audit.run()
        self.assertEqual({self.one.uuid}, self.of(self.h1))


class Away:
    """Placement's providers while it does not answer."""

    def list(self, _ctxt, **_filters):
        raise exception.Unavailable(service='Placement', reason='test')


class DeletedTest(Base):
    """An aggregate that was deleted while h2 was a member in placement."""

    def setUp(self):
        super().setUp()
        self.put(self.h1, self.one.uuid)
        self.gone = self.create('gone')
        self.put(self.h2, self.gone.uuid)
        self.api_db.write(aggregates.destroy, self.gone.id)

    def kept(self):
        return set(self.api_db.read(aggregates.deleted))

    def test_its_members_leave_it(self):
        self.patch(memberships, 'UUIDS_AT_ONCE', 2)
        for number in range(4):
            self.api_db.write(aggregates.destroy, self.create(f'gone{number}').id)
        for _turn in self.h1, self.h2:
            self.put(self.h2, self.gone.uuid)
            self.audit.run()
            self.assertEqual(set(), self.of(self.h2))

    def test_it_is_forgotten_once_it_has_no_members(self):
        self.audit.run()
        self.audit.run()
        self.assertEqual({self.gone.uuid}, self.kept())
        self.clock.advance(memberships.DELETED_KEPT.total_seconds() + 1)
        self.put(self.h2, self.gone.uuid)
        self.audit.run()
        self.assertEqual({self.gone.uuid}, self.kept())
        self.audit.run()
        self.assertEqual(set(), self.kept())


class RaceTest(Base):
    """Requests change aggregates while the audit repairs them."""

    def during(self, method, action):
        """Run an action once, right before placement gets a request of this method."""
        app, pending = self.client.service.call, [action]

        def call(ctxt, asked, path, **options):
            if asked == method and pending:
                pending.pop()()
            return app(ctxt, asked, path, **options)

        self.patch(self.client.service, 'call', call)

    def test_the_host_is_removed_before_the_write(self):
        """Placement did not have the member: the request changes the record only."""
        self.during('PUT', lambda: self.api_db.write(aggregates.remove_host, self.one.id, 'h1'))
        self.audit.run()
        self.assertEqual(set(), self.of(self.h1))

    def test_the_host_is_added_elsewhere_before_the_write(self):
        """The generation of the provider changes: the write is refused and made again."""
        two = self.create('two')

        def add():
            self.api_db.write(aggregates.add_host, two.id, 'h1')
            self.put(self.h1, two.uuid)

        self.during('PUT', add)
        self.audit.run()
        self.assertEqual({self.one.uuid, two.uuid}, self.of(self.h1))


class ContentionTest(Base):
    """Others write to the provider of h1 all the time."""

    def contend(self, times):
        """Change the provider before each of so many writes of its aggregates."""
        call, left = self.client.service.call, list(range(times))

        def contended(ctxt, method, path, **options):
            if method == 'PUT' and path.endswith('/aggregates') and left:
                left.pop()
                self.traits = not getattr(self, 'traits', False)
                change = {'add' if self.traits else 'remove': ['HW_CPU_X86_AVX']}
                self.client.providers.change_traits(ctxt, self.h1, **change)
            return call(ctxt, method, path, **options)

        self.patch(self.client.service, 'call', contended)
        return left

    def act(self, action):
        path = f'/os-aggregates/{self.one.id}/action'
        answer = self.api.call('POST', path, {action: {'host': 'h1'}}, who=compute_api.ADMIN)
        self.assertEqual(200, answer.status_code, answer.text)

    def test_requests_outlast_a_few_writers(self):
        self.put(self.h1, self.one.uuid)
        for action, members in (('remove_host', set()), ('add_host', {self.one.uuid})):
            left = self.contend(providers.TRIES - 1)
            self.act(action)
            self.assertEqual(([], members), (left, self.of(self.h1)))

    def test_requests_at_once(self):
        """Each host that a request adds is a member in the end, of every aggregate."""
        rows = [self.create(f'rack{number}') for number in range(6)]
        threads = [
            runtime.spawn(self.client.providers.add_to_aggregate, self.ctxt, self.h1, row.uuid)
            for row in rows
        ]
        for row in rows:
            self.api_db.write(aggregates.add_host, row.id, 'h1')
        for thread in threads:
            thread.join()
        self.audit.run()
        self.assertEqual({self.one.uuid, *(row.uuid for row in rows)}, self.of(self.h1))

    def test_the_audit_repairs_what_still_conflicts(self):
        """The host is in the aggregate on record, and the request is kept."""
        self.act('remove_host')
        left = self.contend(providers.TRIES)
        self.act('add_host')
        self.assertEqual(([], set()), (left, self.of(self.h1)))
        self.contend(providers.TRIES)
        self.audit.run()
        self.assertEqual(set(), self.of(self.h1))
        self.audit.run()
        self.assertEqual({self.one.uuid}, self.of(self.h1))
