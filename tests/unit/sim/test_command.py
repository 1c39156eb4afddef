"""The command line of the simulation, with a small program for a history."""

import signal
import subprocess
import sys

import testtools

from tests.sim import command as command_line
from tests.unit.sim import interpreter

# A history whose parent ends before the history begins. What is left of it fails, aloud.
ORPHAN = """
import os
from tests.sim.kernel import runner
parent = os.getpid()
if not os.fork():
    while os.getppid() == parent:
        os.sched_yield()
    runner.Child(1, {}, -1, -1, -1).equip(None, parent=parent)
"""


def command(program, *arguments):
    """Run the command line; return (exit status, output)."""
    status, *printed = interpreter.run('command_line', program, *arguments)
    return status, ''.join(printed)


class CommandTestCase(testtools.TestCase):
    def test_a_signal_ends_all_processes(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self._end(number)

    def _end(self, number):
        started = subprocess.Popen(
            [*interpreter.COMMAND, 'command_line', 'endless', '--seeds', '1-9', '--jobs', '2'],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=interpreter.environment(),
        )
        self.addCleanup(started.kill)
        self.assertEqual('runs\n', started.stdout.readline())
        started.send_signal(number)
        # The output ends with the last process that has it open.
        output, _ = started.communicate(timeout=60)
        self.assertIn('0 histories passed, 0 failed', output)
        self.assertIn('KeyboardInterrupt', output)

    def test_a_history_that_nobody_waits_for_ends(self):
        # It has the output open.
        ended = subprocess.run(
            [sys.executable, '-c', ORPHAN], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(('', ''), (ended.stdout, ended.stderr))

    def test_many_seeds_name_those_that_fail(self):
        status, output = command('faults', '--seeds', '1-15', '--jobs', '2')
        self.assertEqual(1, status, output)
        self.assertIn('seed 7 FAILED: 3 and 31\n  replay: python -m tests.sim --seed 7', output)
        self.assertIn('13 histories passed, 2 failed', output)
        self.assertIn('2 times, seeds 7, 15: # and #', output)

    def test_seeds_are_ranges_and_single_ones(self):
        self.assertEqual(range(7, 8), command_line.seeds_of('7'))
        self.assertEqual([5, 7, 8, 9], command_line.seeds_of('5,7-9'))

    def test_nights_run_through_all_seeds(self):
        seen = set()
        for day in range(739000, 739036):
            seeds = command_line.seeds_of_night('2800', day)
            self.assertTrue(seen.isdisjoint(seeds))
            seen.update(seeds)
        self.assertEqual({*range(201, 100_201)}, seen)
        self.assertEqual(range(5, 10), command_line.seeds_of_night('5-9', 739000))

    def test_commits_run_through_all_seeds_of_the_gate(self):
        def theme_of(seed):
            return 'rare' if seed in {3, 6, 9} else 'usual'

        shares = [command_line.seeds_of_gate(3, number, theme_of) for number in range(4)]
        self.assertEqual(shares[0], shares[3])
        self.assertEqual([*range(1, 201)], sorted(sum(shares[:3], [])))
        for share in shares:
            self.assertEqual(1, len({3, 6, 9}.intersection(share)))

    def test_a_night_prints_its_range_and_what_fails(self):
        status, output = command('faults', '--nightly', '9')
        self.assertRegex(output, r'seeds \d+-\d+\n')
        status, output = command('faults', '--nightly', '1-9')
        self.assertEqual(1, status, output)
        self.assertIn('seeds 1-9\n', output)
        self.assertIn('replay: python -m tests.sim --seed 7', output)

    def test_a_replay_has_the_options_of_the_run(self):
        _status, output = command('faults', '--seeds', '1-9', '--rest', '2', '--chooser', 'uniform')
        replay = r'replay: python -m tests.sim --seed \d+ --rest 2.0 --chooser uniform\n'
        self.assertRegex(output, replay)

    def test_a_start_that_fails_says_why(self):
        status, output = command('unbegun', '--seed', '1')
        self.assertEqual(1, status, output)
        self.assertIn('the start of histories failed: ', output)
        self.assertIn('no database', output)

    def test_a_replay_prints_the_log(self):
        status, output = command('freeze', '--seed', '3')
        self.assertEqual(0, status, output)
        self.assertIn('15.000020 world main freeze: frozen\n', output)
        self.assertIn('\nseed 3: passed; ', output)

    def test_minimize_finds_the_choices_a_failure_needs(self):
        status, output = command('faults', '--seed', '7', '--minimize')
        self.assertEqual(1, status, output)
        self.assertIn('needs 2 of ', output)
        self.assertEqual(['  faults 3 fault 3', '  faults 31 fault 31'], output.splitlines()[-2:])

    def test_what_depends_on_addresses_is_found(self):
        status, output = command('addresses', '--seeds', '1-3', '--twice')
        self.assertEqual(1, status, output)
        self.assertIn('logs differ from line 1', output)
        status, output = command('library', '--seeds', '1-3', '--twice')
        self.assertEqual(0, status, output)
