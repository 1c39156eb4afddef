"""Contents of the live page for a reading."""

import json

import testtools

from nova_lite.lab.page import document
from nova_lite.lab.page import reading
from tests.unit.lab.page import readings

LOAD = {'VCPU': (2, 8), 'MEMORY_MB': (512, 1024), 'DISK_GB': (0, 100)}


def make(reading, audit=None, **faults):
    return document.make(reading, {**readings.NO_FAULTS, **faults}, audit)


class TestHosts(testtools.TestCase):
    def test_states(self):
        hosts = ('up', 'down', 'off', 'disabled')
        servers = [
            *(readings.server(host, host) for host in hosts),
            readings.server('nowhere', None),
        ]
        found = readings.here(*hosts, up=['up', 'off', 'disabled'], servers=servers)
        found.computes[3].disabled = True
        made = make(readings.whole([(readings.cell('cell1'), found)]), hosts_off=['off'])
        states = {'up': 'up', 'down': 'down', 'off': 'off', 'disabled': 'disabled'}
        self.assertEqual(states, {host['name']: host['state'] for host in made['hosts']})
        shown = {each['name']: each['host_state'] for each in made['servers']}
        self.assertEqual({**states, 'nowhere': None}, shown)
        [cell] = made['cells']
        self.assertEqual((4, 2), (cell['hosts'], cell['up']))

    def test_load_is_that_of_the_node(self):
        found = readings.here('host', nodes={'host': 'node'})
        made = make(readings.whole([(readings.cell('cell1'), found)], loads={'node': LOAD}))
        self.assertEqual(LOAD, made['hosts'][0]['load'])

    def test_placement_that_does_not_answer(self):
        cells = [(readings.cell('cell1'), readings.here('host'))]
        for loads, answers in ((None, False), ({}, True)):
            made = make(readings.whole(cells)._replace(loads=loads))
            self.assertEqual(({}, answers), (made['hosts'][0]['load'], made['placement_answers']))

    def test_a_host_without_a_provider(self):
        made = make(readings.whole([(readings.cell('cell1'), readings.here('host'))]))
        self.assertEqual({}, made['hosts'][0]['load'])
        self.assertEqual([0, 0], list(made['zones'][0]['load']['VCPU']))

    def test_zones(self):
        found = readings.here('a', 'b', 'c', servers=[readings.server('web', 'b')])
        loads = {'a': LOAD, 'b': LOAD, 'c': {'VCPU': (30, 10)}}
        made = make(
            readings.whole(
                [(readings.cell('cell1'), found)], zones={'a': 'west', 'b': 'west'}, loads=loads
            )
        )
        nova, west = made['zones']
        self.assertEqual(
            ('west', 2, 2, 1), (west['zone'], west['hosts'], west['up'], west['servers'])
        )
        self.assertEqual((4, 16), west['load']['VCPU'])
        self.assertEqual([0, 0, 2, 0, 0, 0, 0, 0, 0, 0], west['levels']['VCPU'])
        # Overcommitted hosts are in the last tenth.
        self.assertEqual(1, nova['levels']['VCPU'][-1])

    def test_many_hosts_are_summed_up(self):
        names = [f'host{number}' for number in range(document.MOST_HOSTS + 1)]
        made = make(readings.whole([(readings.cell('cell1'), readings.here(*names))]))
        self.assertIsNone(made['hosts'])
        self.assertEqual(len(names), made['zones'][0]['hosts'])
        self.assertLess(len(json.dumps(made)), 2000)


class TestCells(testtools.TestCase):
    def test_one_that_does_not_answer(self):
        made = make(
            readings.whole(
                [(readings.cell('cell1'), None), (readings.cell('cell2'), readings.here('host'))],
                stale={'cell1': None},
            ),
            databases_down=['cell1'],
            buses_cut=['cell2'],
            buses_frozen=['cell1'],
        )
        names = ('answers', 'database_down', 'bus_cut', 'bus_frozen')
        down, cut = ([cell[name] for name in names] for cell in made['cells'])
        self.assertEqual([False, True, False, True], down)
        self.assertEqual([True, False, True, False], cut)
        self.assertEqual(['host'], [host['name'] for host in made['hosts']])

    def test_the_last_known_state_of_one(self):
        web, there = readings.server('web', 'a'), readings.server('db', 'b')
        cells = [
            (readings.cell('cell1'), readings.here('a', servers=[web])),
            (readings.cell('cell2'), readings.here('b', servers=[there])),
        ]
        made = make(readings.whole(cells, stale={'cell1': readings.AT}))
        lost, here = made['cells']
        self.assertEqual(
            (False, '2026-01-02T03:04:05.000Z', 1, 0, 1),
            tuple(lost[name] for name in ('answers', 'known_at', 'hosts', 'up', 'servers')),
        )
        self.assertEqual((True, None), (here['answers'], here['known_at']))
        self.assertEqual(['unknown', 'up'], [host['state'] for host in made['hosts']])
        self.assertEqual(['unknown', 'up'], [each['host_state'] for each in made['servers']])

    def test_cell0_has_servers_and_is_not_listed(self):
        buried = readings.server('lost', None, vm_state='error')
        made = make(
            readings.whole(
                [(readings.cell('cell0', is_cell0=True), readings.here(servers=[buried]))]
            )
        )
        self.assertEqual([], made['cells'])
        self.assertEqual(['lost'], [server['name'] for server in made['servers']])
        self.assertEqual({'error': 1}, made['states'])


class TestMoves(testtools.TestCase):
    def moves(self, *found):
        return make(
            readings.whole(
                [(readings.cell(f'cell{n}'), readings.here(moves=[m])) for n, m in enumerate(found)]
            )
        )['moves']

    def test_how_much_was_copied(self):
        [move] = self.moves(readings.move('web', 'a', 'b', memory_total=200, memory_remaining=50))
        self.assertEqual(
            ('web', 'a', 'b', 0.75), (move['name'], move['source'], move['dest'], move['copied'])
        )

    def test_nothing_is_known_to_be_copied(self):
        self.assertIsNone(self.moves(readings.move('web', 'a', None))[0]['copied'])

    def test_one_between_cells_has_two_records(self):
        both = [readings.move('web', 'a', 'b', cross_cell_move=True) for _cell in range(2)]
        self.assertEqual(1, len(self.moves(*both)))

    def test_one_that_waits_for_its_user(self):
        [waits] = self.moves(readings.move('web', 'a', 'b', status='finished'))
        self.assertEqual(
            (True, '2026-01-02T03:04:05.000Z'), (waits['waits_for_user'], waits['since'])
        )
        [runs] = self.moves(readings.move('web', 'a', 'b'))
        self.assertFalse(runs['waits_for_user'])

    def test_the_record_of_a_cell_that_answers(self):
        cells = [
            (readings.cell('cell1'), readings.here(moves=[readings.move('web', 'a', 'b')])),
            (
                readings.cell('cell2'),
                readings.here(moves=[readings.move('web', 'a', 'b', status='finished')]),
            ),
        ]
        [move] = make(readings.whole(cells, stale={'cell1': readings.AT}))['moves']
        self.assertEqual(('finished', False), (move['status'], move['is_stale']))
        [move] = make(readings.whole(cells[:1], stale={'cell1': readings.AT}))['moves']
        self.assertTrue(move['is_stale'])


class TestMany(testtools.TestCase):
    def more(self, moves, sagas):
        here = readings.here(moves=[readings.move(f'web{n}', 'a', 'b') for n in range(moves)])
        made = make(
            readings.whole(
                [(readings.cell('cell1'), here)],
                sagas=[readings.saga(uuid=str(n)) for n in range(sagas)],
            )
        )
        return made['more_moves'], made['more_sagas']

    def test_whether_there_are_others(self):
        moves, sagas = reading.MOST_MOVES, reading.MOST_SAGAS
        self.assertEqual((False, False), self.more(moves, sagas))
        self.assertEqual((True, True), self.more(moves + 1, sagas + 1))


class TestSagas(testtools.TestCase):
    def saga(self, **values):
        found = readings.here(names={'uuid-of-web': 'web'})
        reading = readings.whole([(readings.cell('cell1'), found)], sagas=[readings.saga(**values)])
        return make(reading)['sagas'][0]

    def test_its_steps_and_its_server(self):
        saga = self.saga()
        self.assertEqual(
            ('web', ['first', 'second'], 1), (saga['name'], saga['steps'], saga['position'])
        )
        self.assertEqual('2026-01-02T03:04:05.000Z', saga['created_at'])
        self.assertIsNone(saga['finished_at'])

    def test_one_that_has_not_begun(self):
        self.assertEqual([], self.saga(data={})['steps'])

    def test_the_daemon_that_it_waits_for(self):
        waits = {'waits_on': 'copy', 'data': {'move': {'source': {'host': 'host2'}}}}
        for values, expected in (
            ({'state': 'parked'}, 'compute host2'),
            ({'state': 'running'}, None),
            ({'state': 'parked', 'waits_on': None}, None),
            ({'state': 'parked', 'waits_on': 'of-another-release'}, 'super-conductor'),
        ):
            self.assertEqual(expected, self.saga(**{**waits, **values})['waits_for'])

    def test_one_that_a_debugger_has_stopped(self):
        mark = {'step': 'copy', 'direction': 'undo', 'number': 1, 'goes': None}
        for goes, state, stopped in (
            (None, 'stopped', 'before undo of copy'),
            ('go', 'parked', None),
        ):
            saga = self.saga(state='parked', data={'_stop': {**mark, 'goes': goes}})
            self.assertEqual((state, stopped), (saga['state'], saga['stopped']))
        self.assertIsNone(self.saga()['stopped'])

    def test_an_error_without_its_traceback(self):
        error = {'type': 'Broken', 'message': 'x' * 1000, 'kind': 'internal', 'traceback': 'secret'}
        shown = self.saga(error=error, state='undone')['error']
        self.assertTrue(shown.startswith('Broken: xxx'))
        self.assertEqual(document.MOST_TEXT, len(shown))
