"""Extensions, external events, console tokens, and what is gone, over HTTP."""

import datetime

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import removed
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import port_changes
from nova_lite.db.api import sagas
from nova_lite.db.cell import console_tokens
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from tests.fixtures import api_neighbours
from tests.fixtures import compute_api
from tests.unit.api import base

SERVICE = {'user': 'neutron', 'project': 'service', 'roles': 'service'}
EVENTS = '/os-server-external-events'
MIGRATION = '55555555-5555-4555-8555-555555555555'


class Network:
    """The network service's view of a server, as the test says; decisions that are known stay.

    meanwhile: what happens while it is asked
    """

    def __init__(self):
        self.answer = []
        self.meanwhile = lambda: None

    def info(self, _ctxt, server_uuid, known=()):
        self.meanwhile()
        if isinstance(self.answer, Exception):
            raise self.answer
        decided = {vif['id']: vif for vif in known or ()}
        return [{**vif, **decided.get(vif['id'], {})} for vif in self.answer]

    def ports(self, _ctxt, _server_uuid):
        return self.answer


class SystemTest(base.ApiTest):
    def make_api(self):
        self.network, self.placement = Network(), api_neighbours.Placement()
        return compute_api.ComputeApi(network=self.network, placement=self.placement)

    def add_server(self, host='h1', **more):
        uuid = runtime.new_uuid()
        cell = self.api.cell('cell1')
        values = {
            'uuid': uuid,
            'project_id': 'alpha',
            'user_id': 'u',
            'display_name': 's',
            'vm_state': 'active',
            'host': host,
            'vcpus': 1,
            'memory_mb': 1,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': {},
            **more,
        }
        cell.db.write(instances.create, [values])
        mapping = {'instance_uuid': uuid, 'project_id': 'alpha', 'cell_id': cell.id}
        self.api.api_db.write(instance_mappings.create, [mapping])
        return uuid

    def network_info(self, uuid):
        return self.api.cell('cell1').db.read(instances.get, uuid).network_info


class EventsTest(SystemTest):
    def send(self, *events, status=200, version='2.93', who=SERVICE):
        answer = self.request(
            'POST', EVENTS, {'events': list(events)}, status=status, version=version, who=who
        )
        return answer.get('events')

    def test_each_gets_its_code(self):
        good, nowhere, gone = self.add_server(), self.add_server(host=None), runtime.new_uuid()
        names = (
            ('network-changed', good),
            ('network-changed', nowhere),
            ('network-changed', gone),
            ('volume-extended', good),
        )
        answers = self.send(
            *({'name': name, 'server_uuid': uuid} for name, uuid in names), status=207
        )
        self.assertEqual([200, 422, 404, 400], [each['code'] for each in answers])
        self.assertEqual(
            ['completed', 'failed', 'failed', 'failed'], [each['status'] for each in answers]
        )

    def test_network_information_is_read_anew(self):
        uuid = self.add_server()
        event = {'name': 'network-vif-plugged', 'server_uuid': uuid, 'tag': 'port'}
        self.network.answer = [{'id': 'port'}]
        self.send(event)
        self.assertEqual([{'id': 'port'}], self.network_info(uuid))
        self.network.answer = exception.Unavailable(service='network', reason='away')
        self.send(event)
        self.assertEqual([{'id': 'port'}], self.network_info(uuid))

    def noted(self):
        """[(server, port that it has lost)] of the changes that are to be followed later."""
        found = self.api.api_db.read(port_changes.after, 0, 100)
        return [(each.instance_uuid, each.port_id) for each in found]

    def test_network_information_of_a_busy_server_is_left_alone(self):
        uuid = self.add_server(task_state='rebooting')
        self.network.answer = [{'id': 'port'}]
        self.send({'name': 'network-changed', 'server_uuid': uuid})
        self.assertEqual([], self.network_info(uuid))
        self.assertEqual([(uuid, None)], self.noted())

    def test_deleted_port_of_a_busy_server(self):
        """It leaves the record at once, also a sealed one, and the guest once more later."""
        cell = self.api.cell('cell1')
        for sealed in (False, True):
            ports = [{'id': 'port'}, {'id': 'kept'}]
            uuid = self.add_server(task_state='resize_finish', network_info=ports, sealed=sealed)
            self.send({'name': 'network-vif-deleted', 'server_uuid': uuid, 'tag': 'port'})
            self.assertEqual([{'id': 'kept'}], self.network_info(uuid))
            self.assertIn((uuid, 'port'), self.noted())
            self.assertEqual(sealed, cell.db.read(instances.get, uuid).sealed)

    def test_a_deleted_port_stays_noted_until_the_guest_has_lost_it(self):
        uuid = self.add_server(network_info=[{'id': 'port'}])
        self.network.answer = []
        self.send({'name': 'network-vif-deleted', 'server_uuid': uuid, 'tag': 'port'})
        self.assertEqual(([], [(uuid, 'port')]), (self.network_info(uuid), self.noted()))

    def test_deleted_port_of_a_server_on_no_host(self):
        uuid = self.add_server(host=None, network_info=[{'id': 'port'}])
        self.network.answer = []
        event = {'name': 'network-vif-deleted', 'server_uuid': uuid, 'tag': 'port'}
        self.assertEqual([422], [each['code'] for each in self.send(event, status=207)])
        self.assertEqual(([], []), (self.network_info(uuid), self.noted()))

    def test_what_cannot_be_read_now_is_noted(self):
        uuid = self.add_server(network_info=[{'id': 'port'}])
        self.network.answer = exception.Unavailable(service='network', reason='away')
        self.send({'name': 'network-vif-deleted', 'server_uuid': uuid, 'tag': 'port'})
        self.assertEqual([(uuid, 'port')], self.noted())

    def test_what_was_written_meanwhile_is_newer(self):
        uuid = self.add_server()
        kept = [{'id': 'port', 'preserve_on_delete': True}]
        cell = self.api.cell('cell1')
        self.network.meanwhile = lambda: cell.db.write(
            instances.update, uuid, {'network_info': kept}
        )
        new = {'id': 'new', 'preserve_on_delete': False}
        self.network.answer = [{'id': 'port', 'preserve_on_delete': False}, new]
        self.send({'name': 'network-changed', 'server_uuid': uuid})
        self.assertEqual([*kept, new], self.network_info(uuid))

    def test_build_hears_of_its_ports(self):
        uuid = self.add_server(vm_state='building', task_state='spawning')
        event = {'name': 'network-vif-plugged', 'server_uuid': uuid}
        self.send(event, {**event, 'tag': 'a'}, {**event, 'tag': 'b', 'status': 'failed'})
        (call,) = self.api.compute['cell1'].calls
        self.assertEqual('external_instance_event', call[0])
        self.assertEqual(
            [{'tag': 'a', 'status': 'completed'}, {'tag': 'b', 'status': 'failed'}],
            call[1]['events'],
        )

    def test_live_migration_hears_of_its_ports(self):
        uuid = self.add_server(task_state='migrating')
        cell = self.api.cell('cell1')
        values = {
            'uuid': MIGRATION,
            'instance_uuid': uuid,
            'migration_type': 'live-migration',
            'status': 'preparing',
            'dest_compute': 'other',
        }
        cell.db.write(migrations.create, values)
        event = {'name': 'network-vif-plugged', 'server_uuid': uuid, 'tag': 'a'}
        self.send(event)
        self.send({**event, 'tag': 'b', 'status': 'failed'})
        row = cell.db.read(migrations.get, MIGRATION)
        self.assertEqual({'a': 'completed', 'b': 'failed'}, live_migrations.plugged(row, 'other'))
        self.assertEqual({}, live_migrations.plugged(row, 'another'))
        self.assertEqual([], self.api.compute['cell1'].calls)

    def test_deleted_port_leaves_the_guest(self):
        uuid = self.add_server(network_info=[{'id': 'port'}])
        event = {'name': 'network-vif-deleted', 'server_uuid': uuid}
        self.network.answer = []
        self.send(event, {**event, 'tag': 'another'}, {**event, 'tag': 'port'})
        (call,) = self.api.compute['cell1'].calls
        self.assertEqual('drop_interface', call[0])
        self.assertEqual('port', call[1]['port_id'])
        self.assertEqual([], self.network_info(uuid))

    def test_resources_of_a_deleted_port(self):
        """They are released, unless a saga may have claimed for a port that is not bound yet."""
        self.api.add_host('h1', hypervisor_hostname='n1')
        self.network.answer = []
        vif = {'id': 'port', 'profile': {'allocation': {'group': 'agent'}}}
        held = {'agent': {'NET_BW_EGR_KILOBIT_PER_SEC': 1}}
        for busy in (True, False):
            uuid = self.add_server(node='n1', network_info=[vif])
            self.placement.held[uuid], self.placement.trees = held, held
            if busy:
                self.begin_saga(uuid)
            self.send({'name': 'network-vif-deleted', 'server_uuid': uuid, 'tag': 'port'})
            self.assertEqual(held if busy else {}, self.placement.held[uuid])

    def begin_saga(self, server):
        self.api.api_db.write(
            sagas.create,
            context.admin(),
            uuid=runtime.new_uuid(),
            kind='attach-interface',
            instance_uuid=server,
            arguments={},
        )

    def test_refused(self):
        uuid = self.add_server()
        event = {'name': 'network-changed', 'server_uuid': uuid}
        self.send(event, who=compute_api.MEMBER, status=403)
        self.send(event, who=compute_api.ADMIN)
        self.send(status=400)
        self.send({**event, 'name': 'unheard-of'}, status=400)
        self.send({**event, 'server_uuid': 'x'}, status=400)
        self.send({**event, 'unknown': 1}, status=400)
        self.send({**event, 'name': 'volume-extended'}, version='2.50', status=400)
        tagged = {**event, 'name': 'power-update', 'tag': 'POWER_ON'}
        self.send(tagged, version='2.75', status=400)
        self.send(tagged, version='2.76')


class ConsoleTokensTest(SystemTest):
    def add_token(self):
        """Add a token of a server on h1, and return the server's uuid."""
        uuid = self.add_server(host='h1')
        values = {
            'console_type': 'novnc',
            'host': 'h1',
            'port': 5900,
            'instance_uuid': uuid,
            'expires': runtime.naive_now() + datetime.timedelta(seconds=60),
        }
        self.api.cell('cell1').db.write(console_tokens.create, 'secret', values)
        return uuid

    def test_of_a_server_that_has_left_the_host(self):
        uuid, path = self.add_token(), '/os-console-auth-tokens/secret'
        write = self.api.cell('cell1').db.write
        for changes in ({'host': 'h2'}, {'host': None}, {'hidden': True}):
            write(instances.update, uuid, changes)
            self.admin('GET', path, version='2.31', status=404)
            write(instances.update, uuid, {'host': 'h1', 'hidden': False})
            self.admin('GET', path, version='2.31')
        write(instances.mark_deleted, uuid)
        self.admin('GET', path, version='2.31', status=404)

    def test_show(self):
        uuid, path = self.add_token(), '/os-console-auth-tokens/secret'
        self.assertEqual(
            {
                'instance_uuid': uuid,
                'host': 'h1',
                'port': 5900,
                'internal_access_path': None,
            },
            self.admin('GET', path, version='2.98')['console'],
        )
        self.assertIsNone(self.admin('GET', path, version='2.99')['console']['tls_port'])
        for ask in (self.admin, self.request):
            ask('GET', path, version='2.30', status=400)
        self.admin('GET', '/os-console-auth-tokens/other', version='2.31', status=404)
        self.get(path, version='2.31', status=403)


class ExtensionsTest(SystemTest):
    def test_fixed(self):
        found = {each['alias']: each for each in self.get('/extensions')['extensions']}
        self.assertEqual('Keypairs', found['os-keypairs']['name'])
        self.assertEqual(found['NMN'], self.get('/extensions/NMN')['extension'])
        self.get('/extensions/unheard-of', status=404)


class RemovedTest(SystemTest):
    def test_gone(self):
        uuid = runtime.new_uuid()
        for path, methods in removed.GONE.items():
            for method in methods:
                where = path.format(server_id=uuid, id=uuid, name='n') + '?x=1'
                body = {'x': {}} if method in ('POST', 'PUT') else None
                for version in ('2.1', 'latest'):
                    self.request(method, where, body, status=410, version=version)
        self.request('POST', f'/servers/{uuid}/action', {'resetNetwork': None}, status=410)
