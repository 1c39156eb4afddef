"""The comparison with nova: its table, its requests, and what it says of versions."""

import json
import signal

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from tools import compare_with_nova
from tools.comparison import boots
from tools.comparison import environment
from tools.comparison import goals
from tools.comparison import nova_config
from tools.comparison import table
from tools.comparison import workload

ABOUT = {
    'date': '1 January 2026',
    'machine': '2 cores (Abacus), 4 GiB, Linux 6',
    'versions': {'nova': '34.0.0', 'nova_lite': 'abc'},
    'notifications': True,
    'cells': 2,
    'hosts': 3,
    'poll_s': 0.02,
}


def _figures(cpu_ms, rate=1.0, *, others=0.25, polls=0):
    return {
        'polls': polls,
        'cpu_s_per_operation': cpu_ms / 1000,
        'per_second': rate,
        'milliseconds': {what: {'p50': 1.0} for what in ('POST', 'to ACTIVE', 'GET')},
        'others': others,
        'cpu_ms_per_operation_by_kind': {
            'api': cpu_ms / 10,
            'placement': cpu_ms / 4,
            'mariadb': cpu_ms / 5,
            'simcloud': cpu_ms / 20,
        },
    }


def _round(nova, ours):
    return {table.NOVA: {'boot-16': nova}, table.OURS: {'boot-16': ours}}


ROUNDS = [
    _round(_figures(900, 2), _figures(100, 12)),
    _round(_figures(700, 3), _figures(140, 13, others=1.5)),
    _round(_figures(800, 1), _figures(90, 99)),
]


class TableTest(testtools.TestCase):
    def test_medians_and_ratios_of_what_was_measured(self):
        """Less CPU time is better, and a higher rate."""
        self.assertEqual(
            [
                ('boot, 16 in flight: CPU ms', '800', '100', '8.0'),
                ('boot, 16 in flight: ACTIVE/s', '2.0', '13', '6.5'),
            ],
            table.lines(ROUNDS),
        )

    def test_the_page_tells_the_conditions(self):
        shown = table.rst({'about': ABOUT, 'rounds': ROUNDS})
        self.assertIn('   * - boot, 16 in flight: CPU ms\n     - 800\n     - 100\n', shown)
        for text in (
            '1 January 2026, 2 cores (Abacus), 4 GiB, Linux 6, medians of 3 rounds',
            '2 cells of 3 hosts, with notifications',
            'used 0.2 cores',
            'at most 1.5',
            'nova 34.0.0, nova_lite abc.',
        ):
            self.assertIn(text, shown)

    def test_the_table_of_readme_is_a_part(self):
        shown = table.readme({'about': ABOUT, 'rounds': [_all_scenarios()]})
        self.assertIn('boot, 16 in flight', shown)
        self.assertNotIn('delete', shown)

    def test_it_stands_between_its_marks(self):
        document = f'before\n\n{table.BEGIN}\n\nold\n\n{table.END}\nafter\n'
        written = table.placed(document, 'new\n')
        self.assertEqual(f'before\n\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n', written)
        self.assertEqual(written, table.placed(written, 'new\n'))
        self.assertRaises(ValueError, table.placed, 'before\nafter\n', 'new')

    def test_the_documents_have_marks(self):
        for path in (compare_with_nova.README, compare_with_nova.PAGE):
            table.placed(path.read_text(), '')
        table.between(compare_with_nova.COSTS.read_text(), goals.BEGIN, goals.END, '')


class GoalsTest(testtools.TestCase):
    def test_rows_that_miss_their_goals(self):
        """A goal of 15 leaves 53 ms; half of our 100 ms is our own."""
        by_cpu, by_time = goals.lines(ROUNDS)
        text = 'boot, 16 in flight: CPU ms'
        parts = ('100.0', '0.0', '25.0', '20.0', '0.0', '50.0', '3.3', '16')
        self.assertEqual([(text, '15', '8.0', *parts)], by_cpu)
        text = 'boot, 16 in flight: ACTIVE/s'
        self.assertEqual([(text, '18', '6.5', '8.0', '1.8', '0.2', '1.8')], by_time)
        for line in (*by_cpu, *by_time):
            self.assertIn(f'   * - {line[0]}\n', goals.rst({'rounds': ROUNDS}))

    def test_others_are_not_shown(self):
        rounds = [_round(_figures(1500, 1), _figures(100, 18))]
        self.assertEqual(([], []), goals.lines(rounds))

    def test_polls_of_moves(self):
        """12 shows of 4 ms each."""
        shows, move = _figures(4), _figures(160, polls=12)
        rounds = [
            {
                table.NOVA: {'migrate': _figures(1600)},
                table.OURS: {'migrate': move, 'show-1': shows},
            }
        ]
        (line,) = goals.lines(rounds)[0]
        self.assertEqual(
            ('cold migrate and confirm: CPU ms', '13', '10.0', '160.0', '48.0'), line[:5]
        )


def _all_scenarios():
    figures = _figures(1)
    figures['milliseconds'] |= {'to its status': {'p50': 1.0}}
    played = {row.scenario: figures for row in table.ROWS}
    return {table.NOVA: played, table.OURS: played}


class SignalTest(testtools.TestCase):
    def test_a_second_signal_does_not_interrupt_the_end(self):
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        signal.signal(signal.SIGTERM, compare_with_nova.end)
        ended = self.assertRaises(SystemExit, signal.raise_signal, signal.SIGTERM)
        self.assertEqual(143, ended.code)
        signal.raise_signal(signal.SIGTERM)


class ResultsTest(testtools.TestCase):
    def test_rounds_of_former_runs_count(self):
        path = self.useFixture(fixtures.TempDir()).join('figures.json')
        self.assertEqual([], compare_with_nova.former(path))
        with open(path, 'w') as file:
            json.dump({'about': ABOUT, 'rounds': ROUNDS}, file)
        self.assertEqual(ROUNDS, compare_with_nova.former(path))
        self.assertEqual([], compare_with_nova.former(None))


class Cloud:
    """Answers as a compute API. statuses: of a server, one after the other"""

    SERVICES = [
        {'host': 'cell1-host2', 'state': 'up'},
        {'host': 'cell1-host1', 'state': 'up'},
        {'host': 'cell1-host3', 'state': 'down'},
        {'host': 'cell2-host1', 'state': 'up'},
    ]

    def __init__(self, *statuses):
        self.statuses, self.calls = list(statuses), []

    def flavor_id(self, name):
        return f'id of {name}'

    def call(self, method, path, body=None):
        self.calls.append((method, path, body))
        if path.startswith('/os-services'):
            return {'services': self.SERVICES}
        if path.endswith('status=BUILD'):
            status = self.statuses[0]
            if len(self.statuses) > 1:
                self.statuses.pop(0)
            return {'servers': [{'id': 'a'}] if status == 'BUILD' else []}
        return {'server': {'id': 'a', 'status': self.statuses[0]}}


def _server(host='cell1-host1', flavor=workload.FLAVOR):
    return {workload.HOST: host, 'flavor': {'original_name': flavor}}


class MovesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.known = workload.Known.of(Cloud())

    def test_hosts_that_are_up(self):
        self.assertEqual(
            {'cell1': ['cell1-host1', 'cell1-host2'], 'cell2': ['cell2-host1']}, self.known.hosts
        )

    def test_resizes_go_there_and_back(self):
        for name, other in (('m1.tiny', 'm1.small'), ('m1.small', 'm1.tiny')):
            body = workload.resize(_server(flavor=name), self.known)
            self.assertEqual({'resize': {'flavorRef': f'id of {other}'}}, body)

    def test_live_migrations_stay_in_the_cell(self):
        body = workload.live_migrate(_server('cell1-host2'), self.known)
        self.assertEqual('cell1-host1', body['os-migrateLive']['host'])

    def test_others_leave_the_cell(self):
        body = workload.cross_cell(_server(), self.known)
        self.assertEqual('cell2-host1', body['migrate']['host'])


class BootsTest(testtools.TestCase):
    def test_until_it_is_active(self):
        cloud = Cloud('BUILD', 'BUILD', 'ACTIVE')
        began = runtime.monotonic()
        with boots.Boots(cloud, 0.001) as waiting:
            self.assertGreater(waiting.wait('a'), began)
        self.assertEqual(('GET', '/servers/a', None), cloud.calls[-1])

    def test_until_it_has_failed(self):
        with boots.Boots(Cloud('ERROR'), 0.001) as waiting:
            error = self.assertRaises(exception.Conflict, waiting.wait, 'a')
        self.assertIn('ERROR', str(error))


class EnvironmentTest(testtools.TestCase):
    def test_the_first_processor(self):
        text = 'processor\t: 0\nmodel name\t: Abacus 2\n\nprocessor\t: 1\nmodel name\t: other\n'
        self.assertEqual('Abacus 2', environment.cpu_model(text))
        self.assertNotEqual('', environment.cpu_model(''))

    def test_busy_seconds(self):
        path = self.useFixture(fixtures.TempDir()).join('stat')
        with open(path, 'w') as file:
            file.write('cpu  100 20 30 4000 500 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n')
        ticks = 100 + 20 + 30 + 6 + 7 + 8
        self.assertEqual(ticks / workload.results.TICKS, workload.busy_seconds(path))


class ConfigurationTest(testtools.TestCase):
    def test_a_file(self):
        sections = {'DEFAULT': {'host': 'x'}, 'api': {'workers': 2}}
        self.assertEqual('[DEFAULT]\nhost = x\n[api]\nworkers = 2\n', nova_config.text(sections))

    def test_computes_and_cells_do_not_reach_the_api_database(self):
        places = nova_config.Places(
            root='/x',
            buses={'top': 'rabbit://top', 'cell1': 'rabbit://cell1'},
            databases={'cell1': 'mysql://cell1', 'api': 'mysql://api'},
            simcloud='http://127.0.0.1:1',
            placement='http://127.0.0.1:2',
            password='p',
            notifications=False,
        )
        conductor = nova_config.cell_conductor(places, 'cell1')
        compute = nova_config.compute(places, 'cell1', 'cell1-host1')
        self.assertNotIn('api_database', {**conductor, **compute})
        self.assertNotIn('database', compute)
        self.assertEqual('rabbit://cell1', compute['DEFAULT']['transport_url'])
        self.assertEqual('noop', compute['oslo_messaging_notifications']['driver'])
