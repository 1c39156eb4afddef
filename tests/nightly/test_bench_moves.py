"""nova-lite bench of all kinds of moves."""

import json

from tests.functional import test_bench_moves


class BenchMovesTest(test_bench_moves.BenchTestCase):
    # A host that was evacuated says with its heartbeat that it is clear.
    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {'DEFAULT': {'report_interval': 1}, 'quota': {'instances': 50, 'cores': 50}},
    }

    def test_moves_that_wait_for_their_user(self):
        for scenario in ('migrate', 'cross-cell'):
            self.check_move_that_waits(scenario)

    def test_moves_that_do_not(self):
        for scenario in ('live-migrate', 'evacuate'):
            self.assertEqual({f'{scenario}: to ACTIVE': 2}, self.phases(scenario))
        for service in self.cloud.admin.compute.services(binary='nova-compute'):
            self.assertFalse(service.is_forced_down)

    def test_many_that_wait(self):
        found = self.phases('cross-cell', '--waiting', '5')
        self.assertEqual(5, found['cross-cell: 5 at once'])
        before, _peak, rest = self.footprints
        self.assertEqual((0, 0), (before['running'], before['waiting']))
        self.assertEqual((0, 5), (rest['running'], rest['waiting']))

    def test_needs_an_idle_host(self):
        for number in range(4):
            host = f'cell{number // 2 + 1}-host{number % 2 + 1}'
            self.cloud.boot(f'busy-{number}', availability_zone=f'nova:{host}')
        self.assertIn('needs one without servers', self.bench('evacuate', code=2))


class BenchFiguresTest(test_bench_moves.BenchTestCase):
    settings = {'cells': 1, 'hosts': 2}

    def test_processor_time_and_memory(self):
        found = json.loads(self.bench('migrate', '--count', '1', '--waiting', '1', '--json'))
        for phase in found['phases']:
            self.assertLess(0, phase['cpu_s_per_operation'])
        for look in found['super_conductor']:
            self.assertLess(0, look['memory_mib'])
            self.assertLess(0, look['threads'])
