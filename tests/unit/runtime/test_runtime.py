"""The one source of time, chance and ids."""

import argparse
import os
import subprocess
import sys

import testtools

from nova_lite import runtime
from tests.fixtures import clock

FORK = """
import os
from nova_lite import runtime
from tests.fixtures import clock
pid = os.fork()
os.write(1, runtime.new_uuid().encode() + b'\\n')  # one write, never interleaved
if pid:
    os.waitpid(pid, 0)
"""


class ForkTestCase(testtools.TestCase):
    def test_forked_processes_do_not_make_the_same_ids(self):
        done = subprocess.run(
            [sys.executable, '-c', FORK], check=True, capture_output=True, text=True
        )
        ids = done.stdout.split()
        self.assertEqual(2, len(ids))
        self.assertEqual(2, len(set(ids)))


class BootTestCase(testtools.TestCase):
    def test_processes_agree_on_the_boot(self):
        code = 'from nova_lite import runtime; print(runtime.boot_id(), runtime.boottime())'
        before = runtime.boottime()
        done = subprocess.run(
            [sys.executable, '-c', code], check=True, capture_output=True, text=True
        )
        boot_id, at = done.stdout.split()
        self.assertEqual(runtime.boot_id(), boot_id)
        self.assertLessEqual(before, float(at))
        self.assertLessEqual(float(at), runtime.boottime())


class InstalledTestCase(testtools.TestCase):
    """Answers of a simulation in place of the system."""

    def test_secrets_and_cpu_time(self):
        class Fixed(clock.ManualRuntime):
            def secret(self, bytes_):
                return 's' * bytes_

            def cpu_time(self):
                return 7.0

        self.assertNotEqual(runtime.new_secret(), runtime.new_secret())
        with runtime.install(Fixed()):
            self.assertEqual('sss', runtime.new_secret(3))
            self.assertEqual(7.0, runtime.cpu_time())


class SecretTestCase(testtools.TestCase):
    def test_a_command_takes_a_secret_for_a_value_not_for_an_option(self):
        class Begins(clock.ManualRuntime):
            def secret(self, bytes_):
                return '-' + '-' * bytes_

        parser = argparse.ArgumentParser(exit_on_error=False)
        parser.add_argument('--password')
        with runtime.install(Begins()):
            secret = runtime.new_secret(3)
        self.assertEqual(secret, parser.parse_args(['--password', secret]).password)
        self.assertEqual(4, len(secret))


class WaitTestCase(testtools.TestCase):
    def test_all_futures(self):
        done, failed, cancelled, open_ = (runtime.Future() for _number in range(4))
        runtime.spawn(done.set_result, 1)
        runtime.spawn(failed.set_exception, ValueError())
        cancelled.cancel()
        runtime.wait_all([cancelled, done, failed])
        self.assertTrue(done.done() and failed.done())
        runtime.wait_all([open_, done], 0.01)
        self.assertFalse(open_.done())

    def test_all_futures_within_one_time(self):
        """Not each for as long."""
        futures = [runtime.Future() for _number in range(200)]
        before = runtime.monotonic()
        runtime.wait_all(futures, 0.1)
        self.assertLess(runtime.monotonic() - before, 10)

    def test_readable(self):
        out, in_ = os.pipe()
        self.addCleanup(os.close, out)
        self.addCleanup(os.close, in_)
        self.assertFalse(runtime.wait_readable(out, 0))
        os.write(in_, b'x')
        self.assertTrue(runtime.wait_readable(out))


class PeriodicsTestCase(testtools.TestCase):
    def start(self, tasks, failed=None):
        worker = runtime.periodics(tasks, threads=2, failed=failed)
        thread = runtime.spawn(worker.start)
        self.addCleanup(thread.join)
        self.addCleanup(worker.stop)
        return worker, thread

    def test_turns_are_apart(self):
        turns, enough = [], runtime.Event()

        def task():
            turns.append(runtime.monotonic())
            if len(turns) == 4:
                enough.set()

        before = runtime.monotonic()
        self.start([(0.05, task)])
        self.assertTrue(runtime.wait(enough, 60))
        for number, turn in enumerate(turns, 1):
            self.assertGreaterEqual(turn - before, number * 0.05)

    def test_errors_are_reported_and_the_next_turn_comes(self):
        errors, enough = [], runtime.Event()

        def task():
            raise ValueError(len(errors))

        def failed(turn, error):
            errors.append((turn.__name__, error))
            if len(errors) == 2:
                enough.set()

        self.start([(0.01, task)], failed)
        self.assertTrue(runtime.wait(enough, 60))
        self.assertEqual(
            [('task', '0'), ('task', '1')], [(name, str(error)) for name, error in errors[:2]]
        )

    def test_stop_does_not_wait_for_the_next_turn(self):
        def task():
            """Not due in this test."""

        worker, thread = self.start([(3600, task)])
        worker.stop()
        thread.join(60)
        self.assertFalse(thread.is_alive())

    def test_one_that_takes_long_holds_up_no_other_and_runs_once_at_a_time(self):
        go_on, others, running, most = runtime.Event(), runtime.Semaphore(0), [], []
        self.addCleanup(go_on.set)

        def slow():
            running.append(1)
            most.append(len(running))
            go_on.wait()
            running.pop()

        self.start([(0.01, slow), (0.02, others.release)])
        for _turn in range(5):
            self.assertTrue(others.acquire(timeout=60))
        go_on.set()
        self.assertEqual([1], most[:1])
        self.assertEqual({1}, set(most))


class PoolTest(testtools.TestCase):
    def test_an_error_ends_the_work_that_has_not_begun(self):
        began, cancelled, done = runtime.Event(), runtime.Event(), []

        def first():
            began.set()
            cancelled.wait(10)

        def interrupt():
            with runtime.executor(1) as pool:
                pool.submit(first)
                pool.submit(done.append, 'second').add_done_callback(lambda _job: cancelled.set())
                began.wait()
                raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, interrupt)
        self.assertEqual([], done)
