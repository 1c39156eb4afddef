"""The kernel of the simulation, by programs that run on it."""

import json

import testtools

from tests.unit.sim import interpreter

ALL = 'uniform,sticky,pct'
# Hashes of the logs of seed 11, chooser by chooser: the same in each version of Python and on
# each machine. A change of the kernel that changes schedules changes them, and only that.
LOGS = {
    'library': ('5adf83d8a2ef', '3fc6740ea255', '17c76e09b1c6'),
    'chance': ('9e54e40f1d16', 'f5daa96addd9', 'c96997e64225'),
    'deadlock': ('5489a8b3bf38', '9804178f0a12', 'aa40e083a300'),
}


def histories(program, seeds='1', choosers='sticky', **options):
    """Return the outcomes of a program of `programs` as dictionaries, chooser by chooser."""
    status, output, errors = interpreter.run(program, seeds, choosers, json.dumps(options))
    if status:
        raise AssertionError(f'exit status {status}: {errors}')
    return json.loads(output)


def details(outcome, what):
    """Return what was logged as `what`."""
    mark = f' {what}: '
    return [line.partition(mark)[2] for line in outcome['log'] if mark in line]


class SchedulingTestCase(testtools.TestCase):
    def test_each_chooser_finds_a_lost_update(self):
        found = histories('lost_update', '1-40', ALL)
        for start in (0, 40, 80):
            failures = {outcome['failure'] for outcome in found[start : start + 40]}
            self.assertEqual({'', 'lost update'}, failures)

    def test_a_deadlock_is_reported_with_stacks(self):
        found = [outcome for outcome in histories('deadlock', '1-9') if not outcome['ok']]
        self.assertNotEqual([], found)
        failure = found[0]['failure']
        self.assertTrue(failure.startswith('deadlock'), failure)
        self.assertEqual(2, failure.count('with one, other:'), failure)
        self.assertEqual(2, failure.count(': waits for lock of Thread-'), failure)

    def test_a_thread_that_dies_fails_the_history(self):
        (outcome,) = histories('dying_thread')
        self.assertEqual("thread dying failed: KeyError: 'nothing'", outcome['failure'])

    def test_a_loop_without_an_end_is_reported(self):
        (outcome,) = histories('spin', limit_s=3)
        self.assertIn('not ended after 3 s', outcome['failure'])

    def test_the_same_seed_gives_the_same_log(self):
        for program in ('library', 'chance'):
            one, other = histories(program, '7-8')
            self.assertNotEqual(one['log_hash'], other['log_hash'])
            (again,) = histories(program, '7')
            self.assertEqual(one['log'], again['log'])
            self.assertEqual(one['log_hash'], again['log_hash'])

    def test_all_machines_and_versions_of_python_give_the_same_log(self):
        for program, hashes in LOGS.items():
            found = [outcome['log_hash'][:12] for outcome in histories(program, '11', ALL)]
            self.assertEqual(list(hashes), found, program)


class ZygoteTestCase(testtools.TestCase):
    def test_histories_continue_where_their_start_ended(self):
        found = histories('begun', '7-8')
        self.assertEqual(['(7, 3)', '(8, 3)'], [details(each, 'begun')[0] for each in found])
        for outcome in found:
            self.assertEqual(3, len(details(outcome, 'tick')), outcome)
            self.assertTrue(outcome['log'][0].startswith('log of the start: '))
            self.assertEqual(3, round(outcome['virtual_s']))
        self.assertNotEqual(details(found[0], 'tick'), details(found[1], 'tick'))

    def test_a_history_does_not_depend_on_those_before_it(self):
        *_others, last = histories('begun', '5-9')
        (alone,) = histories('begun', '9')
        self.assertEqual(alone['log'], last['log'])
        (perturbed,) = histories('begun', '9', perturbed=True)
        self.assertEqual(alone['log'], perturbed['log'])

    def test_a_start_that_was_given_up_is_lived_through_again(self):
        logs = [[each['log'] for each in histories(name, '5-8')] for name in ('begun', 'one_kept')]
        self.assertEqual(*logs)

    def test_starts_have_a_start_in_common(self):
        for outcome in (found := histories('grown', '7-10')):
            self.assertEqual([f'({outcome["seed"]}, 3)'], details(outcome, 'begun'))
            self.assertEqual(3, round(outcome['virtual_s']))
        (alone,) = histories('grown', '10')
        self.assertEqual(alone['log'], found[-1]['log'])

    def test_a_history_fails_without_the_others(self):
        found = {each['seed']: each['failure'] for each in histories('begun', '12-14')}
        self.assertEqual({12: '', 13: 'unlucky', 14: ''}, found)

    def test_files_are_opened_again_as_they_were(self):
        (outcome,) = histories('reopened')
        self.assertEqual(["(42, -3000, None, ':memory:')"], details(outcome, 'reopened'))


class LibraryTestCase(testtools.TestCase):
    def test_the_standard_library_runs_on_virtual_time(self):
        for outcome in histories('library', '5', ALL):
            self.assertEqual('', outcome['failure'])
            self.assertLess(outcome['real_s'], 2)
            self.assertEqual(["(86400.0, 86400, '1 day, 0:00:00')"], details(outcome, 'slept'))
            squares = str([n * n for n in range(10)])
            self.assertEqual([squares], details(outcome, 'squares'))
            self.assertEqual(["[0, 1, 2, 3, 4, 5, 'empty', 'simple']"], details(outcome, 'queue'))
            self.assertEqual(['rang'], details(outcome, 'timer'))
            self.assertEqual(['False', 'True', 'True'], details(outcome, 'notified'))
            self.assertEqual(['(False, True)'], details(outcome, 'set'))
            self.assertEqual(['False'], details(outcome, 'acquired'))
            self.assertEqual(['None', 'first'], details(outcome, 'local'))

    def test_pools_share_a_lock_of_their_module(self):
        for outcome in histories('pools', '1-5', ALL, watchdog_s=3):
            self.assertEqual('', outcome['failure'])

    def test_waiting_for_a_model_ends_when_it_changes(self):
        (outcome,) = histories('until')
        self.assertEqual(['False', 'True'], details(outcome, 'free'))
        self.assertLess(outcome['virtual_s'], 5.1)


class ProcessesTestCase(testtools.TestCase):
    def test_nothing_runs_in_a_killed_process(self):
        for outcome in histories('kill', '1-5'):
            self.assertEqual('', outcome['failure'])
            text = '\n'.join(outcome['log'])
            self.assertNotIn('survived', text)
            self.assertNotIn('cleaned up', text)
            self.assertEqual(2, text.count('connections closed'))
            self.assertEqual(['True', 'True'], details(outcome, 'free'))

    def test_a_frozen_process_goes_on_later(self):
        (outcome,) = histories('freeze')
        at = [float(line.split()[0]) for line in outcome['log'] if ' tick: ' in line]
        self.assertEqual([10, 115, 125], [round(seconds) for seconds in at])

    def test_processes_have_clocks_of_their_own(self):
        (outcome,) = histories('clocks')
        found = dict(zip(('fast', 'ahead'), details(outcome, 'clock'), strict=True))
        self.assertTrue(found['ahead'].startswith('(3600.0'), found)
        self.assertTrue(found['ahead'].endswith(', 100.0)'), found)
        self.assertTrue(found['fast'].endswith(', 100.0)'), found)

    def test_a_clock_that_is_set_keeps_the_time_since_boot(self):
        (outcome,) = histories('clocks')
        self.assertEqual(['(50, 7)'], details(outcome, 'late'))


class RealBlockTestCase(testtools.TestCase):
    def test_what_blocks_in_c_is_killed_with_its_stack(self):
        (outcome,) = histories('blocks', watchdog_s=1)
        self.assertFalse(outcome['ok'])
        self.assertIn('no progress', outcome['failure'])
        self.assertIn('in blocks', outcome['failure'])

    def test_a_connection_ends_the_history(self):
        (outcome,) = histories('connects')
        self.assertIn('would block for real', outcome['failure'])
        self.assertIn('in connects', outcome['failure'])
        self.assertNotIn('caught', str(outcome['log']))


class ChoicesTestCase(testtools.TestCase):
    def test_a_suppressed_choice_has_no_effect(self):
        found = [outcome for outcome in histories('faults', '1-20') if not outcome['ok']]
        seed = str(found[0]['seed'])
        needed = [choice for choice in found[0]['choices'] if choice[1] in (3, 31)]
        others = [choice for choice in found[0]['choices'] if choice[1] not in (3, 31)]
        self.assertEqual(2, len(needed))
        (outcome,) = histories('faults', seed, suppressed=[choice[:2] for choice in others])
        self.assertEqual('3 and 31', outcome['failure'])
        (outcome,) = histories('faults', seed, suppressed=[needed[0][:2]])
        self.assertTrue(outcome['ok'])


class DiskTestCase(testtools.TestCase):
    def test_statements_of_connections_wait_for_the_lock_of_a_file(self):
        for outcome in histories('writers', '1-5', ALL):
            self.assertEqual('', outcome['failure'])
            self.assertEqual(['3'], details(outcome, 'balance'))
            self.assertTrue(any('db: UPDATE' in line for line in outcome['log']))

    def test_scripts_are_refused(self):
        (outcome,) = histories('scripts')
        self.assertEqual(['CREATE TABLE account (balance)'] * 2, details(outcome, 'refused'))


class BusTestCase(testtools.TestCase):
    def test_what_was_not_acknowledged_comes_again_by_another_connection(self):
        (outcome,) = histories('lost_bus')
        self.assertEqual('', outcome['failure'])
        self.assertEqual(['a message'] * 2, details(outcome, 'take'))
        self.assertIn('the connection is closed', details(outcome, 'error')[0])
        (connected,) = details(outcome, 'connected')
        self.assertTrue(5 <= float(connected) < 7, connected)
        self.assertEqual(['0'], details(outcome, 'left'))

    def test_a_frozen_bus_accepts_and_delivers_when_it_is_healed(self):
        (outcome,) = histories('frozen_bus')
        self.assertEqual('', outcome['failure'])
        self.assertIn('has not answered for 2 s', details(outcome, 'error')[0])
        self.assertEqual(['a message'], details(outcome, 'take'))
        (taken,) = details(outcome, 'taken')
        self.assertTrue(102 <= float(taken) < 104, taken)


class OwnersTestCase(testtools.TestCase):
    def test_a_former_owner_may_only_be_refused(self):
        (outcome,) = histories('owners_in_order')
        self.assertEqual('', outcome['failure'])
        self.assertEqual([0, 0, 0, 1, 1], [int(each) for each in details(outcome, 'late calls')])

    def test_a_host_carries_out_its_call(self):
        (outcome,) = histories('late_call')
        self.assertIn('compute-cell1 carries out a call of epoch 1', outcome['failure'])

    def test_a_cell_takes_its_change(self):
        (outcome,) = histories('late_change')
        self.assertIn('cell1 has a change of epoch 1 of saga saga, which is', outcome['failure'])
