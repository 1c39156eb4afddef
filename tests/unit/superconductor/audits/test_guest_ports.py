"""Ports that guests have and records do not are noted, for some hosts at a time."""

import types

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import port_changes
from nova_lite.db.cell import services
from nova_lite.superconductor.audits import guest_ports
from tests.fixtures import servers_api


class AuditTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.api = self.useFixture(servers_api.ServersApi(cells=1))
        self.guests, self.asked = {}, []
        self.world = types.SimpleNamespace(
            conf=self.api.conf,
            api_db=self.api.api_db,
            cells=self.api.cells,
            compute=lambda _cell: types.SimpleNamespace(guest_ports=self.answer),
        )
        self.audit = guest_ports.Audit(self.world)

    def answer(self, _ctxt, host):
        self.asked.append(host)
        found = self.guests.get(host, {})
        if isinstance(found, Exception):
            raise found
        return found

    def add(self, *recorded, has=(), host='host1', **values):
        """A server with ports on record, and a guest with others."""
        info = [{'id': each} for each in recorded]
        uuid = self.api.add_server(host=host, node=host, network_info=info, **values)
        self.guests.setdefault(host, {})[uuid] = [*has]
        return uuid

    def noted(self):
        self.audit.run()
        found = self.world.api_db.read(port_changes.after, 0, 100)
        return [(each.instance_uuid, each.port_id) for each in found]

    def test_a_guest_that_kept_a_port(self):
        uuid = self.add('one', has=['one', 'two', 'three'])
        self.add('four', has=['four'])
        self.add('five')
        expected = [(uuid, 'three'), (uuid, 'two')]
        self.assertEqual(expected, self.noted())
        self.assertEqual(expected, self.noted())

    def test_servers_that_are_changed_or_not_on_the_host(self):
        self.add(has=['one'], task_state='resize_prep')
        self.add(has=['two'], hidden=True)
        self.add(has=['three'], deleted=True)
        self.guests['host1'][runtime.new_uuid()] = ['four']
        self.assertEqual([], self.noted())

    def test_some_hosts_at_a_time(self):
        self.patch(guest_ports, 'MOST_HOSTS', 2)
        self.add()
        for host in ('host2', 'host3'):
            self.api.add_host(host)
            self.add(host=host)
        for expected in (['host1', 'host2'], ['host3'], ['host1', 'host2']):
            self.asked.clear()
            self.audit.run()
            self.assertEqual(expected, self.asked)

    def test_a_host_that_is_down(self):
        self.add(has=['one'])
        database = self.api.cell('cell1').db
        service = database.read(services.find, 'host1')
        database.write(services.update, service.uuid, {'forced_down': True})
        self.assertEqual([], self.noted())
        self.assertEqual([], self.asked)

    def test_a_host_that_does_not_answer(self):
        """It ends the search, since each further host may take as long. The next run continues."""
        for host in ('host2', 'host3'):
            self.api.add_host(host)
        uuid = self.add(has=['one'])
        self.add(has=['two'], host='host2')
        last = self.add(has=['three'], host='host3')
        self.guests['host2'] = exception.Unavailable(service='compute', reason='no reply')
        self.assertEqual([(uuid, 'one')], self.noted())
        self.assertEqual(['host1', 'host2'], self.asked)
        self.asked.clear()
        self.assertIn((last, 'three'), self.noted())
        self.assertEqual(['host3'], self.asked)
