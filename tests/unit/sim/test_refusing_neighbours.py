"""Neighbours that refuse requests for good, and cells whose databases do not answer."""

import types
import urllib.parse

import testtools

from tests.sim.oracle import ending
from tests.sim.oracle import excuses
from tests.sim.workload import outside
from tests.sim.world import denials
from tests.sim.world import faults

WORK = [('req-1', 20, 30)]


def refuses(kind, method, path, *, asking='super-1', address=denials.ADDRESS):
    parts = urllib.parse.urlsplit(f'http://{address}{path}')
    return denials.Denial(kind, 403).refuses(method, parts, asking)


class DenialsTestCase(testtools.TestCase):
    def test_requests_of_a_kind_by_daemons(self):
        port, bindings = '/network/v2.0/ports/p1', '/network/v2.0/ports/p1/bindings'
        for kind, method, path, refused in (
            ('bindings', 'PUT', port, True),
            ('bindings', 'POST', bindings, True),
            ('bindings', 'DELETE', port, False),
            ('bindings', 'POST', '/network/v2.0/ports', False),
            ('new ports', 'POST', '/network/v2.0/ports', True),
            ('attachments', 'PUT', '/volume/v3/attachments/a1', True),
            ('attachments', 'GET', '/volume/v3/attachments/a1', False),
            ('volume actions', 'POST', '/volume/v3/volumes/v1/action', True),
            ('snapshots', 'POST', '/volume/v3/snapshots', True),
            ('images', 'PUT', '/image/v2/images/i1/file', True),
        ):
            self.assertIs(refused, refuses(kind, method, path), (kind, method, path))
        self.assertFalse(refuses('bindings', 'PUT', port, asking='client-0'))
        self.assertFalse(refuses('bindings', 'PUT', port, address='placement.sim'))


class BlackoutsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        where = 'database-cell1'
        dark = faults.Fault('nemesis', excuses.BLACKOUT, where, where, 10, 40)
        dark.hosts, dark.locked = ('cell1-host1',), ('cell1',)
        self.excuses = excuses.Excuses(types.SimpleNamespace(injected=[dark]))

    def test_servers_of_the_cell_may_fail(self):
        for host, excused in (('cell1-host1', True), ('cell2-host1', False)):
            self.assertIs(excused, self.excuses.of_error('it failed', 'server', WORK, [host]))

    def test_that_there_is_no_host_is_not_excused(self):
        message = 'No valid host was found. No answer from cell1.'
        self.assertFalse(self.excuses.of_error(message, 'server', WORK, ['cell1-host1']))

    def test_lists_may_lack_servers(self):
        for began, excused in ((20, True), (80, False)):
            call = types.SimpleNamespace(began=began, ended=began + 1)
            self.assertIs(excused, self.excuses.of_blackout(call))


class StrandedTestCase(testtools.TestCase):
    def test_error_that_an_administrator_has_set(self):
        changes = outside.Outside()
        ledger = types.SimpleNamespace(outside=changes, excuses=None)
        made = ending.Ending(None, ledger, None, repairs=None, damage=None)
        server = {'id': 'server', 'OS-SRV-USG:launched_at': '2026-11-29T00:00:00.000000'}
        self.assertTrue(made._has_run(server))
        self.assertFalse(made._has_run({**server, 'OS-SRV-USG:launched_at': None}))
        changes.begin(outside.RESET, 'server', 'error')
        self.assertFalse(made._has_run(server))
