"""Aggregates over HTTP, mirrored to a recorded placement."""

import types

from nova_lite import conf as configuration
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db.api import aggregates as aggregates_db
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from tests.fixtures import compute_api
from tests.fixtures import placement as placement_fixture
from tests.unit.api import base

URL = '/os-aggregates'


class AggregateTest(base.ApiTest):
    def make_api(self):
        self.providers = compute_api.Recorder()
        return compute_api.ComputeApi(placement=types.SimpleNamespace(providers=self.providers))

    def create(self, name='one', status=200, version='2.41', **more):
        body = {'aggregate': {'name': name, **more}}
        return self.admin('POST', URL, body, version=version, status=status).get('aggregate')

    def show(self, aggregate):
        return self.admin('GET', f'{URL}/{aggregate["id"]}')['aggregate']

    def act(self, aggregate, action, status=200, **content):
        path = f'{URL}/{aggregate["id"]}/action'
        return self.admin('POST', path, {action: content}, status=status)

    def add_server(self, host, cell='cell1'):
        values = {
            'uuid': runtime.new_uuid(),
            'project_id': 'p',
            'user_id': 'u',
            'display_name': 's',
            'vm_state': 'active',
            'host': host,
            'vcpus': 1,
            'memory_mb': 512,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': {},
        }
        self.api.cell(cell).db.write(instances.create, [values])


class AggregatesTest(AggregateTest):
    def test_views(self):
        made = self.create(availability_zone='z')
        self.assertEqual(
            {
                'id', 'name', 'uuid', 'availability_zone', 'created_at', 'updated_at',
                'deleted', 'deleted_at',
            },
            set(made),
        )  # fmt: skip
        shown = self.show(made)
        self.assertEqual(([], {'availability_zone': 'z'}), (shown['hosts'], shown['metadata']))
        self.assertNotIn('uuid', shown)
        (listed,) = self.admin('GET', URL, version='2.41')['aggregates']
        self.assertEqual(made['uuid'], listed['uuid'])

    def test_line_breaks_after_names(self):
        made = self.create('one\n', availability_zone='z\n')
        self.assertEqual(('one', 'z'), (made['name'], made['availability_zone']))
        self.create('one', status=409)
        path = f'{URL}/{made["id"]}'
        changed = {'name': 'two\n', 'availability_zone': 'z\n'}
        shown = self.admin('PUT', path, {'aggregate': changed})['aggregate']
        # As in nova, only a new aggregate's zone loses its line break.
        self.assertEqual(('two', 'z\n'), (shown['name'], shown['availability_zone']))
        for name in ('x\r\n', 'x\n\n'):
            self.create(name, status=400)
            self.admin('PUT', path, {'aggregate': {'name': name}}, status=400)

    def test_long_keys_of_metadata(self):
        made = self.create()
        self.act(made, 'set_metadata', metadata={'k' * 254 + '\n': '1', 'k' * 255: '1'})
        self.act(made, 'set_metadata', metadata={'k' * 255 + '\n': '1'}, status=400)

    def test_refused(self):
        self.create()
        self.create(status=409)
        for values in (
            {'name': ''},
            {'name': 'a' * 256},
            {'name': 'x', 'availability_zone': ''},
            {'name': 'x', 'availability_zone': 'a:b'},
            {'name': 'x', 'unknown': 1},
        ):
            self.create(status=400, **values)
        self.request('GET', URL, status=403)
        self.admin('GET', f'{URL}/99', status=404)
        self.admin('GET', f'{URL}/{"9" * 30}', status=404)
        self.admin('GET', f'{URL}/one', status=400)

    def test_update(self):
        made = self.create()
        self.create('two')
        path = f'{URL}/{made["id"]}'
        shown = self.admin('PUT', path, {'aggregate': {'name': 'new', 'availability_zone': 'z'}})[
            'aggregate'
        ]
        self.assertEqual(('new', 'z'), (shown['name'], shown['availability_zone']))
        self.admin('PUT', path, {'aggregate': {'name': 'two'}}, status=409)
        shown = self.admin('PUT', path, {'aggregate': {'name': ' newer '}})['aggregate']
        self.assertEqual('newer', shown['name'])
        self.admin('PUT', path, {'aggregate': {'name': ' '}}, status=400)
        self.admin('PUT', path, {'aggregate': {'availability_zone': None}}, status=400)
        self.admin('PUT', path, {'aggregate': {}}, status=400)
        self.admin('PUT', f'{URL}/99', {'aggregate': {'name': 'x'}}, status=404)

    def test_ids(self):
        for wrong, status in (('-1', 404), ('99', 404), ('one', 400), ('--1', 400), ('1.0', 400)):
            self.admin('GET', f'{URL}/{wrong}', status=status)
            self.admin('DELETE', f'{URL}/{wrong}', status=status)

    def test_metadata(self):
        made = self.create()
        self.act(made, 'set_metadata', metadata={'a': '1', 'trait:X': 'required'})
        self.act(made, 'set_metadata', metadata={'a': None, 'availability_zone': 'z'})
        self.assertEqual(
            {'trait:X': 'required', 'availability_zone': 'z'}, self.show(made)['metadata']
        )
        self.act(made, 'set_metadata', metadata={'availability_zone': None}, status=400)
        self.act(made, 'set_metadata', metadata={'a': 1}, status=400)
        self.act({'id': 99}, 'set_metadata', metadata={}, status=404)

    def test_hosts(self):
        made = self.create()
        node = self.api.add_host('h1')
        shown = self.act(made, 'add_host', host='h1')['aggregate']
        self.assertEqual(['h1'], shown['hosts'])
        uuid = made['uuid']
        self.assertEqual([('add_to_aggregate', node, uuid, {})], self.providers.calls)
        self.act(made, 'add_host', host='h1', status=409)
        self.act(made, 'add_host', host='nowhere', status=404)
        self.act({'id': 99}, 'add_host', host='h1', status=404)
        self.admin('DELETE', f'{URL}/{made["id"]}', status=400)
        self.act(made, 'remove_host', host='nowhere', status=404)
        self.act(made, 'remove_host', host='h1')
        self.assertEqual(('remove_from_aggregate', node, uuid, {}), self.providers.calls[-1])
        self.act(made, 'remove_host', host='h1', status=404)
        self.admin('DELETE', f'{URL}/{made["id"]}')
        self.admin('DELETE', f'{URL}/{made["id"]}', status=404)

    def test_placement_fails(self):
        made = self.create()
        self.api.add_host('h1')
        conflict = exception.ProviderConflict(provider='p')
        self.providers.answers = {'add_to_aggregate': conflict, 'remove_from_aggregate': conflict}
        self.act(made, 'add_host', host='h1')
        self.act(made, 'remove_host', host='h1', status=409)
        self.assertEqual(['h1'], self.show(made)['hosts'])
        missing = exception.ResourceProviderNotFound(name_or_uuid='p')
        self.providers.answers = {'remove_from_aggregate': missing}
        self.act(made, 'remove_host', host='h1')

    def stamp(self):
        return self.api.api_db.read(stamps.every)[stamps.AGGREGATES]

    def during(self, method, action):
        """Run an action during placement's first `method`. Return the list for its result."""
        results, recorded = [], getattr(self.providers, method)

        def interrupted(*args):
            if not results:
                results.append(None)  # what happens within may come here again
                results[0] = action()
            return recorded(*args)

        setattr(self.providers, method, interrupted)
        return results

    def test_the_stamp_moves_after_placement_was_told(self):
        """A request sent before placement knew of the host is sent again."""
        made = self.create()
        self.api.add_host('h1')
        then = self.during('add_to_aggregate', self.stamp)
        self.act(made, 'add_host', host='h1')
        self.assertGreater(self.stamp(), then[0])

    def test_a_host_that_is_removed_while_it_is_added(self):
        made = self.create()
        self.api.add_host('h1')
        self.during('add_to_aggregate', lambda: self.act(made, 'remove_host', host='h1'))
        self.act(made, 'add_host', host='h1')
        self.assertEqual([], self.show(made)['hosts'])
        self.assertEqual('remove_from_aggregate', self.providers.calls[-1][0])

    def test_a_host_that_is_added_again_while_it_is_removed(self):
        """The other adds it between our records and our last word to placement."""
        made = self.create()
        self.api.add_host('h1')
        self.act(made, 'add_host', host='h1')
        record, asked = self.providers.remove_from_aggregate, []

        def remove(*args):
            asked.append(args)
            if len(asked) == 2:
                self.act(made, 'add_host', host='h1')
            return record(*args)

        self.providers.remove_from_aggregate = remove
        self.act(made, 'remove_host', host='h1')
        self.assertEqual(['h1'], self.show(made)['hosts'])
        self.assertEqual('add_to_aggregate', self.providers.calls[-1][0])

    def test_change_moves_the_stamp(self):
        before = self.api.api_db.read(stamps.every)
        self.create()
        self.assertNotEqual(before, self.api.api_db.read(stamps.every))


class ZonesTest(AggregateTest):
    def setUp(self):
        super().setUp()
        self.api.add_host('h1')
        self.api.add_host('h2', 'cell2')
        self.zone1 = self.create('zone1', availability_zone='z1')
        self.zone2 = self.create('zone2', availability_zone='z2')
        self.plain = self.create('plain')

    def test_a_host_is_in_one_zone(self):
        self.act(self.zone1, 'add_host', host='h1')
        self.act(self.zone2, 'add_host', host='h1', status=409)
        self.act(self.plain, 'add_host', host='h1')
        self.act(self.plain, 'set_metadata', metadata={'availability_zone': 'z2'}, status=400)
        path = f'{URL}/{self.plain["id"]}'
        refused = self.admin('PUT', path, {'aggregate': {'availability_zone': 'z2'}}, status=400)
        message = refused['badRequest']['message']
        self.assertIn(f'Cannot update aggregate {self.plain["id"]}. Reason: One or more', message)
        self.act(self.plain, 'set_metadata', metadata={'availability_zone': 'z1'})

    def test_servers_do_not_change_their_zone(self):
        self.act(self.zone1, 'add_host', host='h1')
        self.act(self.zone1, 'add_host', host='h2')
        self.add_server('h2', 'cell2')
        metadata = {'availability_zone': 'z3'}
        self.act(self.zone1, 'set_metadata', metadata=metadata, status=400)
        path = f'{URL}/{self.zone1["id"]}'
        self.admin('PUT', path, {'aggregate': metadata}, status=400)
        self.act(self.zone1, 'set_metadata', metadata={'availability_zone': 'z1', 'a': '1'})
        refused = self.act(self.zone1, 'remove_host', host='h2', status=409)
        message = refused['conflictingRequest']['message']
        self.assertIn(f'Cannot remove host from aggregate {self.zone1["id"]}. Reason: One', message)
        self.act(self.zone1, 'remove_host', host='h1')
        self.act(self.plain, 'add_host', host='h2')
        self.act(self.plain, 'set_metadata', metadata={'availability_zone': 'z1'})
        self.act(self.zone1, 'remove_host', host='h2')

    def test_a_host_with_servers_does_not_enter_a_zone(self):
        self.add_server('h1')
        self.act(self.zone1, 'add_host', host='h1', status=409)
        self.act(self.plain, 'add_host', host='h1')


class LostCommitTest(AggregateTest):
    """The connection to the API database is lost when membership is written."""

    def setUp(self):
        super().setUp()
        self.made = self.create()
        self.api.add_host('h1')

    def lose(self, name, *, after):
        """Lose it before or after the commit of this function of the aggregates."""
        write, function = self.api.api_db.write, getattr(aggregates_db, name)

        def fail(called, *args, **kwargs):
            if called.__name__.lstrip('_') != function.__name__:
                return write(called, *args, **kwargs)
            if after:
                write(called, *args, **kwargs)
            raise exception.Unavailable(
                service='The database', reason='test', may_have_committed=True
            )

        self.patch(self.api.api_db, 'write', fail)

    def asked(self):
        return [call[0] for call in self.providers.calls]

    def test_added(self):
        self.lose('add_host', after=True)
        shown = self.act(self.made, 'add_host', host='h1')['aggregate']
        self.assertEqual(['h1'], shown['hosts'])
        self.assertEqual(['add_to_aggregate'], self.asked())

    def test_not_added(self):
        self.lose('add_host', after=False)
        self.act(self.made, 'add_host', host='h1', status=503)
        self.assertEqual([], self.show(self.made)['hosts'])
        self.assertEqual([], self.asked())

    def test_removed(self):
        self.act(self.made, 'add_host', host='h1')
        self.lose('remove_host', after=True)
        shown = self.act(self.made, 'remove_host', host='h1')['aggregate']
        self.assertEqual([], shown['hosts'])
        self.assertEqual('remove_from_aggregate', self.asked()[-1])

    def test_not_removed(self):
        """Placement has let the host go already, and gets it back."""
        self.act(self.made, 'add_host', host='h1')
        self.lose('remove_host', after=False)
        self.act(self.made, 'remove_host', host='h1', status=503)
        self.assertEqual(['h1'], self.show(self.made)['hosts'])
        self.assertEqual(['remove_from_aggregate', 'add_to_aggregate'], self.asked()[-2:])

    def test_one_of_two_nodes_is_not_removed(self):
        other = runtime.new_uuid()
        values = {**self.node('h1'), 'uuid': other, 'hypervisor_hostname': 'other'}
        self.api.cell('cell1').db.write(compute_nodes.report, [values])
        self.act(self.made, 'add_host', host='h1')
        remove = self.providers.remove_from_aggregate

        def fail(ctxt, uuid, aggregate):
            if uuid == other:
                raise exception.ProviderConflict(provider=other)
            remove(ctxt, uuid, aggregate)

        self.providers.remove_from_aggregate = fail
        self.act(self.made, 'remove_host', host='h1', status=409)
        self.assertEqual(['h1'], self.show(self.made)['hosts'])
        added = {call[1] for call in self.providers.calls[-2:] if call[0] == 'add_to_aggregate'}
        self.assertEqual({self.node('h1')['uuid'], other}, added)

    def node(self, host):
        """The values of the host's first node."""
        row = self.api.cell('cell1').db.read(compute_nodes.first_of_host, host)
        values = row._asdict()
        del values['id']
        return values


class MirrorTest(AggregateTest):
    """With the real placement service."""

    def make_api(self):
        conf = configuration.make_conf([], files=[])
        url = self.useFixture(placement_fixture.Placement()).url
        for name, value in (('auth_type', 'none'), ('endpoint_override', url)):
            conf.set_override(name, value, group='placement')
        self.client = placement.Placement(auth.Credentials(conf))
        return compute_api.ComputeApi(placement=self.client)

    def test_membership_is_in_placement_too(self):
        node = self.api.add_host('h1')
        ctxt = context.admin()
        self.client.providers.ensure(ctxt, node, 'h1.example')
        one, two = self.create('one'), self.create('two')
        for aggregate in (one, two):
            self.act(aggregate, 'add_host', host='h1')
        found, generation = self.client.providers.aggregates(ctxt, node)
        self.assertEqual({one['uuid'], two['uuid']}, found)
        self.act(one, 'remove_host', host='h1')
        found, newer = self.client.providers.aggregates(ctxt, node)
        self.assertEqual({two['uuid']}, found)
        self.assertGreater(newer, generation)
