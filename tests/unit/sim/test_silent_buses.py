"""A bus that did not answer: it explains refusals, and no failure of what was accepted."""

import types

import testtools

from tests.sim.oracle import excuses
from tests.sim.oracle import hosts
from tests.sim.workload import administrators
from tests.sim.workload import caller
from tests.sim.workload import outside
from tests.sim.world import faults

URL = 'http://api-1.sim/v2.1/servers'


class SilentBusTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        silent = faults.Fault('nemesis', 'silent bus', 'bus-cell1', 'bus-cell1', 10, 40)
        self.excuses = excuses.Excuses(types.SimpleNamespace(injected=[silent]))

    def test_a_request_may_be_refused(self):
        for method, code, excused in (('POST', 503, True), ('GET', 503, False)):
            call = caller.Call('client-0', 'stop', method, URL, 20, 21, 'req-1', code)
            self.assertEqual(excused, self.excuses.of_call(call), method)

    def test_what_was_accepted_may_not_fail(self):
        self.assertTrue(self.excuses.of_down(20, 30))
        self.assertFalse(self.excuses.of_down(20, 30, accepted=True))
        self.assertFalse(self.excuses.of_error('', 'server', [('req-1', 20, 30)], ['cell1-host1']))


class HostsTestCase(testtools.TestCase):
    def found(self, there, *, deleted=()):
        """Return what a host lacks. there: the parts that it has; deleted: services"""

        def send(what, _method, _path):
            have = what in there
            record = {'host': 'host', 'state': 'up', 'hypervisor_hostname': 'host'}
            return 200, {what: [record] if have else []}

        def placement(_method, path):
            have = 'providers' in there
            found = {'resource_providers': [{'name': 'host', 'uuid': 'uuid'}] if have else []}
            return 200, {**found, 'inventories': {'VCPU': {}}, 'traits': []}

        reading = types.SimpleNamespace(
            read=lambda _function: (
                [types.SimpleNamespace(host='host')] if 'mappings' in there else []
            )
        )
        changes = outside.Outside()
        for host in deleted:
            change = changes.begin(administrators.DELETE_SERVICE, host)
            change.call = caller.Call('administrator', '', 'DELETE', '', 1, 2, code=204)
        asking = types.SimpleNamespace(send=send, placement=placement)
        cloud = types.SimpleNamespace(hosts=['host'])
        checked = hosts.Hosts(cloud, asking, changes)
        return list(checked.findings(types.SimpleNamespace(api_db=reading)))

    def test_a_host_that_is_whole_lacks_what_placement_lost(self):
        every = ('services', 'hypervisors', 'mappings', 'providers')
        self.assertEqual(['host has no traits in placement'], self.found(every))

    def test_a_deleted_host_is_whole_or_not_there(self):
        self.assertEqual([], self.found((), deleted=['host']))
        self.assertEqual(5, len(self.found(())))
        found = self.found(('services',), deleted=['host'])
        self.assertEqual(['mapping', 'node', 'provider'], [each.split()[-1] for each in found])
