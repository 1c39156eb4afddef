"""Faults are explained by what met the request, in time and place."""

import types

import testtools

from tests.sim.oracle import excuses
from tests.sim.workload import codes
from tests.sim.world import faults
from tests.sim.world import losses
from tests.sim.world import stalls


def fault(kind='statement', fate='lost', process='api-1', **more):
    values = {'where': '', 'begin': 100.0, 'end': 100.0, 'requests': (), **more}
    return faults.Fault(kind, fate, process=process, **values)


def call(**more):
    values = {
        'who': 'client-0',
        'method': 'POST',
        'url': 'http://api-1.sim/v2.1/servers',
        'began': 99.0,
        'ended': 101.0,
        'request_id': 'req-1',
        'code': 503,
        'cell': None,
        'what': 'attach volume',
        'look': None,
    }
    return types.SimpleNamespace(**{**values, **more})


class ExcusesTestCase(testtools.TestCase):
    def excuse(self, injected, **more):
        return bool(
            excuses.Excuses(types.SimpleNamespace(injected=[injected])).of_call(call(**more))
        )

    def test_a_fault_of_the_request_excuses_it(self):
        self.assertTrue(self.excuse(fault(process='super-1', requests=('req-1',))))
        self.assertFalse(self.excuse(fault(process='super-1', requests=('req-2',))))

    def test_a_fault_of_nobody_excuses_what_its_process_does_just_then(self):
        self.assertTrue(self.excuse(fault()))
        self.assertFalse(self.excuse(fault(), began=100.5))
        self.assertFalse(self.excuse(fault(process='api-2')))

    def test_a_cell_that_the_scheduler_could_not_read_excuses_who_found_no_host_then(self):
        unread = fault(process='scheduler')
        for begin, expected in ((100.1, True), (120.0, False)):
            found = excuses.Excuses(types.SimpleNamespace(injected=[unread]))
            work = [('req-1', begin, begin + 0.1)]
            self.assertIs(expected, found.of_error('No valid host', 'server-1', work))
        of_another = excuses.Excuses(
            types.SimpleNamespace(injected=[fault(process='scheduler', requests=('req-2',))])
        )
        self.assertFalse(
            of_another.of_error('No valid host', 'server-1', [('req-1', 100.1, 100.2)])
        )

    def test_only_a_lost_guest_excuses_an_internal_error(self):
        self.assertFalse(self.excuse(fault(requests=('req-1',)), code=500))
        lost = fault('nemesis', losses.FATE, process='cell1-host1', where='server-1')
        path = 'http://api-1.sim/v2.1/servers/%s/os-interface'
        self.assertTrue(self.excuse(lost, code=500, url=path % 'server-1'))
        self.assertFalse(self.excuse(lost, code=500, url=path % 'server-2'))
        self.assertFalse(self.excuse(lost, url=path % 'server-2'))

    def test_a_neighbour_that_refuses_excuses_no_refused_deletion(self):
        kept = fault('http', f'{faults.KEPT} 403', process='api-1', requests=('req-1',))
        for what, expected in (('attach volume', True), ('delete', False), ('force delete', False)):
            self.assertIs(expected, self.excuse(kept, what=what, code=403))

    def test_a_stall_of_the_image_service_excuses_only_who_asks_that_service(self):
        """Other requests are not to wait for those that do."""
        stall = fault('http', f'{stalls.LONG} silent', process='api-1')
        for what, expected in (('create', True), ('backup', True), ('list', False)):
            self.assertIs(expected, self.excuse(stall, what=what, code=codes.LOST))

    def test_a_process_in_trouble_excuses_who_needs_it(self):
        killed = fault('nemesis', 'kill', process='conductor-cell1', end=110.0)
        self.assertTrue(self.excuse(killed, began=120.0, ended=125.0))
        self.assertFalse(self.excuse(killed, began=150.0, ended=155.0))
        self.assertFalse(self.excuse(killed, method='GET'))

    def test_only_who_waits_for_a_daemon_needs_it(self):
        for process, what, expected in (
            ('compute-cell1', 'attach volume', True),
            ('super-1', 'live migrate to host', True),
            ('compute-cell1', 'stop', False),
            ('conductor-cell1', 'create', False),
            ('simcloud', 'create', True),
        ):
            killed = fault('nemesis', 'kill', process=process, end=110.0)
            self.assertIs(expected, self.excuse(killed, what=what))
        locks = fault('nemesis', 'freeze', process='super-1', end=110.0, locked=('api',))
        self.assertTrue(self.excuse(locks, what='stop'))

    def test_what_is_read_of_a_cell_whose_database_does_not_answer(self):
        dark = fault('nemesis', 'blackout', process='database-cell1', end=110.0)
        self.assertTrue(self.excuse(dark, method='GET', what='migrations'))
        self.assertFalse(self.excuse(dark, method='GET', what='migrations', code=404))
        self.assertFalse(self.excuse(dark, method='GET', what='migrations', cell='cell2'))

    def test_a_server_of_another_cell_needs_none_of_its_hosts(self):
        killed = fault('nemesis', 'kill', process='compute-cell1', end=110.0)
        for host, expected in (('cell1-host2', True), ('cell2-host1', False), (None, True)):
            look = types.SimpleNamespace(server={excuses.HOST: host})
            self.assertIs(expected, self.excuse(killed, look=look))

    def test_only_who_serves_may_not_answer(self):
        killed = fault('nemesis', 'kill', end=110.0)
        self.assertTrue(self.excuse(killed, code=0, began=109.0, ended=111.0))
        self.assertFalse(self.excuse(killed, code=0, began=111.0, ended=112.0))
        needed = fault('nemesis', 'kill', process='placement', end=110.0)
        self.assertTrue(self.excuse(needed))
        self.assertFalse(self.excuse(needed, code=0))

    def test_what_excuses_a_refusal(self):
        for process, expected in (
            ('api-1', False),
            ('super-1', False),
            ('scheduler', False),
            ('simcloud', True),
            ('conductor-cell1', True),
        ):
            killed = fault('nemesis', 'kill', process=process, end=110.0)
            self.assertIs(expected, self.excuse(killed, code=409))
            found = excuses.Excuses(types.SimpleNamespace(injected=[killed]))
            self.assertIs(expected, found.of_down(call().began, call().ended))

    def test_who_leaves_a_database_of_a_cell_locked_silences_its_hosts(self):
        for locked, expected in (('cell1', True), ('api', False)):
            frozen = fault('nemesis', 'freeze', process='api-1', end=110.0, locked=(locked,))
            found = excuses.Excuses(types.SimpleNamespace(injected=[frozen]))
            self.assertIs(expected, found.of_down(105.0, 106.0))

    def test_who_hears_the_hosts_of_a_cell(self):
        for process, locked, expected in (
            ('conductor-cell1', (), True),
            ('bus-cell1', (), True),
            ('compute-cell1', (), False),
            ('super-1', (), False),
            ('super-1', ('cell1',), True),
        ):
            killed = fault('nemesis', 'kill', process=process, end=110.0, locked=locked)
            found = excuses.Excuses(types.SimpleNamespace(injected=[killed]))
            self.assertIs(expected, found.of_unheard(105.0, 106.0))
            self.assertFalse(found.of_unheard(90.0, 91.0))

    def test_no_action_fails_with_who_can_be_replaced(self):
        for process, expected in (
            ('api-1', False),
            ('super-1', False),
            ('conductor-cell1', False),
            ('compute-cell1', True),
            ('placement', True),
        ):
            killed = fault('nemesis', 'kill', process=process, end=110.0)
            found = excuses.Excuses(types.SimpleNamespace(injected=[killed]))
            self.assertIs(expected, found.of_error('', 'server-1', [('req-1', 105.0, 120.0)]))

    def test_a_fault_of_a_host_harms_servers_there(self):
        killed = fault('nemesis', 'kill', process='compute-cell1', end=110.0, hosts=('host1',))
        found = excuses.Excuses(types.SimpleNamespace(injected=[killed]))
        for message, hosts, expected in (
            ('it failed', ['host1', 'host2'], True),
            ('it failed', ['host2'], False),
            ('No valid host was found.', ['host2'], True),
            ('it failed', None, True),
        ):
            work = [('req-1', 105.0, 120.0)]
            self.assertIs(expected, found.of_error(message, 'server-1', work, hosts))

    def test_ports_are_read_from_the_network_service(self):
        killed = fault('nemesis', 'kill', process='simcloud', end=110.0)
        ports = {'method': 'GET', 'url': 'http://api-1.sim/v2.1/servers/uuid/os-interface'}
        self.assertTrue(self.excuse(killed, **ports))
        self.assertFalse(self.excuse(killed, method='GET'))
        conductor = fault('nemesis', 'kill', process='conductor-cell1', end=110.0)
        self.assertFalse(self.excuse(conductor, **ports))

    def test_trouble_in_a_cell_excuses_nothing_in_another(self):
        for process in ('compute-cell1', 'conductor-cell1-2', 'cell1-host1'):
            frozen = fault('nemesis', 'freeze', process=process, end=110.0)
            self.assertTrue(self.excuse(frozen))
            self.assertTrue(self.excuse(frozen, cell='cell1'))
            self.assertFalse(self.excuse(frozen, cell='cell2'))
        serving_all = fault('nemesis', 'freeze', process='super-1', end=110.0)
        self.assertTrue(self.excuse(serving_all, cell='cell2'))

    def test_another_api_or_a_clock_excuses_nothing(self):
        self.assertFalse(self.excuse(fault('nemesis', 'kill', process='api-2')))
        self.assertFalse(self.excuse(fault('nemesis', 'clock leaps by 30 s', process='api-1')))

    def test_an_error_needs_a_fault_of_its_action_or_an_announced_refusal(self):
        found = excuses.Excuses(
            types.SimpleNamespace(injected=[fault(requests=('req-1',))]), ('No valid host',)
        )
        self.assertTrue(found.of_error('', 'server-1', [('req-1', 0.0, 1.0)]))
        self.assertFalse(found.of_error('', 'server-1', [('req-2', 100.0, 100.0)]))
        self.assertTrue(found.of_error('No valid host was found.', 'server-1', []))

    def test_a_lost_guest_excuses_its_own_server_alone(self):
        lost = fault('nemesis', losses.FATE, process='cell1-host1', where='server-1')
        found = excuses.Excuses(types.SimpleNamespace(injected=[lost]))
        work = [('req-1', 99.0, 101.0)]
        self.assertTrue(found.of_error('', 'server-1', work))
        self.assertFalse(found.of_error('', 'server-2', work))
        self.assertTrue(found.of_unasked('server-1'))
        self.assertFalse(found.of_unasked('server-2'))

    def test_reasons_for_which_hosts_refuse(self):
        excused = excuses.Excuses(types.SimpleNamespace(injected=[]), ['it is full'])
        self.assertTrue(excused.of_refusal('it is full'))
        self.assertFalse(excused.of_refusal('it is'))
