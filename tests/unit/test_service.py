"""The daemon's own behaviour, apart from what it serves."""

import os
import signal
import sys

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite import service
from tests.fixtures import clock
from tests.fixtures import processes

DAEMON = """
from nova_lite import service
class Manager:
    def start(self):
        print('starting', flush=True)
        {at_start}
    def stop(self):
        print('stopped', flush=True)
def reload():
    print('reloaded', flush=True)
service.run(service.Daemon('toy', Manager()), reload)
"""
FOR_EVER = 'from nova_lite import runtime; runtime.sleep(1000)'


class ReloadTests(testtools.TestCase):
    def test_what_is_refused_leaves_the_rest(self):
        logger = self.useFixture(fixtures.FakeLogger())
        called = []

        def refuse():
            raise exception.Invalid(reason='no such profile')

        daemon = service.Daemon(
            'compute', None, reloading=[refuse, lambda: called.append('second')]
        )
        daemon.reload()
        self.assertEqual(['second'], called)
        self.assertIn('no such profile', logger.output)


class Hesitant:
    """A manager whose database comes up late."""

    def __init__(self, failures):
        self.failures = failures

    def start(self):
        if self.failures:
            self.failures -= 1
            raise exception.Unavailable(service='The database', reason='connection refused')


class Sleepless(clock.ManualRuntime):
    """Sleeping takes no time."""

    def sleep(self, seconds):
        self.advance(seconds)


class StartTests(testtools.TestCase):
    def test_waits_for_what_it_needs_and_says_so(self):
        logger = self.useFixture(fixtures.FakeLogger())
        manager = Hesitant(failures=3)
        with runtime.install(Sleepless()):
            service.Daemon('conductor', manager).start()
        self.assertEqual(0, manager.failures)
        self.assertEqual(3, logger.output.count('conductor waits: The database'))


class SignalTests(testtools.TestCase):
    def _run(self, at_start='pass', ready='starting'):
        script = DAEMON.format(at_start=at_start)
        daemon = self.useFixture(
            processes.Daemon(
                [sys.executable, '-c', script], name='toy', env={'PYTHONPATH': os.getcwd()}
            )
        )
        daemon.start()
        daemon.wait_for_log(ready, 30)
        return daemon

    def test_sigterm_and_sigint_end_it_in_good_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self._run()
            daemon.signal(number)
            self.assertEqual(0, daemon.wait(10))
            self.assertIn('stopped', daemon.log_text())

    def test_sighup_reloads_and_goes_on(self):
        daemon = self._run()
        daemon.signal(signal.SIGHUP)
        daemon.wait_for_log('reloaded', 10)
        self.assertEqual(0, daemon.stop(10))

    def test_sigterm_ends_a_start_that_waits(self):
        daemon = self._run(FOR_EVER)
        self.assertEqual(0, daemon.stop(10))
        self.assertNotIn('stopped', daemon.log_text())
