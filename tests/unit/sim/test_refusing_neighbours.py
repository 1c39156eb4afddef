"""Neighbours that refuse requests for good, and cells whose databases do not answer."""

import types
import urllib.parse

import fixtures
import testtools

from tests.sim.oracle import ending
from tests.sim.oracle import excuses
from tests.sim.workload import finale
from tests.sim.workload import outside
from tests.sim.world import denials
from tests.sim.world import faults
from tests.sim.world import stalls

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
            ('ends of attachments', 'DELETE', '/volume/v3/p1/attachments/a1', True),
            ('ends of ports', 'DELETE', port, True),
            ('ends of ports', 'PUT', port, False),
            ('ends of allocations', 'GET', '/placement/allocations/s1', False),
        ):
            self.assertIs(refused, refuses(kind, method, path), (kind, method, path))
        self.assertFalse(refuses('bindings', 'PUT', port, asking='client-0'))
        self.assertFalse(refuses('bindings', 'PUT', port, address='api-1.sim'))
        path, ends = '/placement/allocations/s1', {'address': denials.PLACEMENT}
        self.assertTrue(refuses('ends of allocations', 'DELETE', path, **ends))

    def test_what_gives_up_resources_has_a_fate_of_its_own(self):
        for kind, fate in (('bindings', 'denied 403'), ('ends of ports', 'denied release 403')):
            self.assertEqual(fate, denials.Denial(kind, 403).fate)


class StallsTestCase(testtools.TestCase):
    def test_requests_of_daemons_to_the_image_service(self):
        stall = stalls.Stall(silent=True, short=True)
        image, volume = '/image/v2/images/i1', '/volume/v3/volumes/v1'
        for path, asking, met in (
            (image, 'compute-cell1', True),
            (image, 'client-0', False),
            (volume, 'compute-cell1', False),
        ):
            parts = urllib.parse.urlsplit(f'http://{denials.ADDRESS}{path}')
            self.assertIs(met, stall.meets(parts, asking), (path, asking))

    def test_only_a_long_one_excuses_a_failure(self):
        for short, excused in ((True, False), (False, True)):
            fate = stalls.Stall(silent=False, short=short).fate
            met = faults.Fault('http', fate, '', 'compute-cell1', 25, 25, ('req-1',))
            found = excuses.Excuses(types.SimpleNamespace(injected=[met]))
            self.assertIs(excused, found.of_error('it failed', 'server', WORK, ['host1']), fate)


class RefusedDeletionsTestCase(testtools.TestCase):
    """An operator, when no neighbour refuses deletions any more, 300 s after one."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('tests.sim.kernel.current', lambda: self))
        self.violations, self.sent = [], []
        asked = types.SimpleNamespace(method='DELETE', url='http://api-1.sim/servers/1', ended=20)
        self.ledger = types.SimpleNamespace(
            gone={'1': True},
            refusals=types.SimpleNamespace(calls=[asked]),
            violation=self.violations.append,
        )

    def time(self):
        return 320

    def send(self, what, method, _path):
        self.sent.append(what)
        return (200, {'server': self.server}) if method == 'GET' else (204, {})

    def look(self, status, task, **more):
        self.server = {'status': status, 'OS-EXT-STS:task_state': task, **more}
        finale.delete_again(self, self.ledger)

    def test_it_deletes_servers_in_error_again(self):
        self.look('ERROR', None, fault={'message': 'forbidden'})
        self.assertEqual((['show', 'delete again'], []), (self.sent, self.violations))

    def test_deletions_that_have_not_ended(self):
        self.look('SHELVED_OFFLOADED', 'deleting')
        self.assertEqual(['1 is deleting, and no neighbour refuses that any more'], self.violations)
        self.assertEqual(['show'], self.sent)


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
