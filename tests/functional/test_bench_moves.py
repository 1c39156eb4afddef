"""nova-lite bench, mostly of moves: what it measures, what it leaves, what it refuses.

Of one kind of move; the others are measured in `tests/nightly`.
"""

import json

from tests.fixtures import commands
from tests.functional import base
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


class BenchTestCase(base.CloudTest):
    def bench(self, *args, code=0):
        """Return what a benchmark prints; its errors when it fails."""
        found, out, err = commands.run('bench', *args, '--state-dir', self.cloud.state_dir)
        self.assertEqual(code, found, out + err)
        return err if code else out

    def phases(self, scenario, *args):
        """{phase: figures} of two moves; no server is left."""
        text = self.bench(scenario, '--count', '2', '--concurrency', '2', '--json', *args)
        found = json.loads(text)
        self.assertEqual(scenario, found['scenario'])
        self.assertEqual([], list(self.cloud.admin.compute.servers(details=False)))
        for phase in found['phases']:
            self.assertEqual([], phase['failures'])
            for times in phase['milliseconds'].values():
                self.assertLessEqual(0, times['p50'])
                self.assertLessEqual(times['p50'], times['p95'])
            self.assertLessEqual(0, phase['cpu_s_per_operation'])
        self.footprints = found['super_conductor']
        return {phase['scenario']: phase['operations'] for phase in found['phases']}

    def check_move_that_waits(self, scenario):
        """Of two such moves one is confirmed and one reverted."""
        self.assertEqual(
            {
                f'{scenario}: to VERIFY_RESIZE': 2,
                f'{scenario}: confirm': 1,
                f'{scenario}: revert': 1,
            },
            self.phases(scenario),
        )


@sample.in_turns(2)
class BenchMovesTest(BenchTestCase):
    settings = base.ROOMY

    def test_moves_that_wait_for_their_user(self):
        self.check_move_that_waits('resize')

    def test_show(self):
        self.assertIn('3 × show in ', self.bench('show', '--count', '3', '--concurrency', '2'))
        for server in self.cloud.admin.compute.servers(details=False):
            self.cloud.wait_gone(server)

    def test_boots_above_the_quota(self):
        """A limit of the project is as before, and so are the defaults where it has none."""
        compute = self.cloud.admin.compute
        project = self.cloud.admin.current_project_id
        before = compute.get_quota_set(project).instances
        self.assertIn('2 × boot in ', self.boots_of_two())
        self.assertEqual(before, compute.get_quota_set(project).instances)
        compute.update_quota_set(project, instances=1)
        self.assertIn('2 × boot in ', self.boots_of_two())
        self.assertEqual(1, compute.get_quota_set(project).instances)
        compute.revert_quota_set(project)

    def test_boots_of_what_is_too_large(self):
        flavor = self.cloud.admin.compute.create_flavor(name='giant', vcpus=1, ram=64, disk=100000)
        self.assertIn('is in ERROR', self.boots_of_two('--flavor', flavor.name, code=1))

    def boots_of_two(self, *args, code=0):
        """Return what the benchmark prints on both streams; it leaves no server."""
        whole = ('bench', 'boot', '--count', '2', '--state-dir', self.cloud.state_dir, *args)
        found, out, err = commands.run(*whole)
        self.assertEqual(code, found, out + err)
        for server in self.cloud.admin.compute.servers(details=False):
            self.cloud.wait_gone(server)
        return out + err

    def test_plain_lines(self):
        text = self.bench('migrate', '--count', '1', '--concurrency', '1')
        self.assertIn('1 × migrate: to VERIFY_RESIZE in ', text)
        self.assertIn('  to VERIFY_RESIZE: p50 ', text)

    def test_what_makes_no_sense(self):
        for args, said in (
            (('resize', '--count', '0'), '--count must be at least 1'),
            (('migrate', '--concurrency', '0'), '--concurrency must be at least 1'),
            (('evacuate', '--waiting', '3'), '--waiting applies only to moves that wait'),
            (('boot', '--waiting', '3'), '--waiting applies only to moves that wait'),
            (('resize', '--waiting', '-1'), '--waiting must not be negative'),
            (('resize', '--new-flavor', 'm1.tiny'), '--new-flavor must differ'),
            (('resize', '--new-flavor', 'none'), 'flavor none does not exist'),
            (('live-migrate', '--flavor', 'none'), 'flavor none does not exist'),
            (('live-migrate', '--image', 'none'), 'none'),
        ):
            self.assertIn(said, self.bench(*args, code=2))


class BenchOfOneCellTest(BenchTestCase):
    settings = moves_base.ONE_HOST

    def test_needs_hosts_to_go_to(self):
        for scenario, said in (
            ('cross-cell', 'hosts in at least two cells'),
            ('live-migrate', 'at least two hosts in a cell'),
        ):
            self.assertIn(said, self.bench(scenario, code=2))
