"""The daemon's own behaviour, apart from what it serves."""

import math
import signal

import fixtures
from oslo_log import log
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import lifetime
from tests.fixtures import clock
from tests.fixtures import contexts
from tests.fixtures import imported
from tests.fixtures import notify_socket

LOG = log.getLogger(__name__)
DAEMON = """
from nova_lite.daemons import lifetime
class Manager:
    def start(self):
        print('starting', flush=True)
        {at_start}
    def stop(self):
        {at_stop}
        print('stopped', flush=True)
def reload():
    print('reloaded', flush=True)
lifetime.run(lifetime.Daemon('toy', Manager()), reload, stop_limit_s=0.3)
"""
UNAVAILABLE = (
    'from nova_lite import exception; '
    "raise exception.Unavailable(service='The database', reason='refused')"
)
FOR_EVER = 'from nova_lite import runtime; runtime.sleep(1000)'
IN_A_FINALIZER = """from nova_lite import runtime
        class Ending:
            def __del__(self):
                print('in a finalizer', flush=True)
                runtime.sleep(1000)
        Ending()
        runtime.sleep(1000)"""


class PeriodicTests(testtools.TestCase):
    def test_log_lines_are_of_no_request_before(self):
        """A context that a periodic makes does not stay with what its thread does next."""
        heard = self.useFixture(contexts.Contexts())
        asked = context.RequestContext(overwrite=False)

        def method():
            LOG.info('periodic')
            context.RequestContext(overwrite=False)
            LOG.info('periodic')

        task = lifetime._periodic(method)
        with asked.bound():
            task()
            task()
            LOG.info('afterwards')
        first, second, third, fourth = heard.of('periodic')
        self.assertEqual((first, third), (second, fourth))
        self.assertNotIn(asked.request_id, (first, third))
        self.assertNotEqual(first, third)
        self.assertEqual([asked.request_id], heard.of('afterwards'))


class ReloadTests(testtools.TestCase):
    def test_what_is_refused_leaves_the_rest(self):
        logger = self.useFixture(fixtures.FakeLogger())
        called = []

        def refuse():
            raise exception.Invalid(reason='no such profile')

        daemon = lifetime.Daemon(
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


class Dying:
    """A manager with something due every hour."""

    def periodics(self):
        return [(3600, lambda: None)]


class Sleepless(clock.ManualRuntime):
    """Sleeping takes no time."""

    def sleep(self, seconds):
        self.advance(seconds)

    def wait(self, event, seconds=None):
        self.advance(seconds)
        return event.is_set()


class Beating:
    """A manager whose heartbeat fails so many times."""

    def __init__(self, failures):
        self.failures = failures
        self.beats, self.failed = [], runtime.Event()

    def heartbeats(self):
        return [(0.01, self.beat)]

    def beat(self):
        self.beats.append(runtime.monotonic())
        if len(self.beats) <= self.failures:
            self.failed.set()
            raise exception.Unavailable(service='The database', reason='connection refused')


class HeartbeatTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())

    def test_is_repeated_before_its_next_turn(self):
        manager = Beating(failures=3)
        with runtime.install(Sleepless()):
            began = runtime.monotonic()
            lifetime._persistent(manager.beat, runtime.Event())()
        waits = [at - began for at in manager.beats]
        self.assertEqual([n * lifetime.HEARTBEAT_RETRY_S for n in range(4)], waits)
        # Less than a turn, even of the shortest report interval that makes sense.
        self.assertLessEqual(lifetime.HEARTBEAT_RETRY_S, 2)

    def test_failures_are_one_line_each(self):
        manager = Beating(failures=3)
        with runtime.install(Sleepless()):
            lifetime._persistent(manager.beat, runtime.Event())()
        lines = self.logger.output.splitlines()
        self.assertEqual(3, len(lines), lines)
        for line in lines:
            self.assertIn('Beating.beat failed: The database', line)

    def test_ends_with_the_daemon(self):
        manager = Beating(failures=math.inf)
        daemon = lifetime.Daemon('compute', manager)
        daemon.start()
        self.assertTrue(runtime.wait(manager.failed, 60))
        daemon.stop()
        self.assertFalse(daemon.alive)


class StartTests(testtools.TestCase):
    def test_waits_for_what_it_needs_and_says_so(self):
        logger = self.useFixture(fixtures.FakeLogger())
        manager = Hesitant(failures=3)
        with runtime.install(Sleepless()):
            lifetime.Daemon('conductor', manager).start()
        self.assertEqual(0, manager.failures)
        self.assertEqual(3, logger.output.count('conductor is waiting: The database'))


class SignalTests(testtools.TestCase):
    """Of a daemon that has started; over a real notify socket."""

    def setUp(self):
        super().setUp()
        self.notify = self.useFixture(notify_socket.NotifySocket())

    def _run(self, at_start='pass', at_stop='pass', **env):
        script = DAEMON.format(at_start=at_start, at_stop=at_stop)
        daemon = self.useFixture(
            imported.Script(script, name='toy', env={**self.notify.env, **env})
        )
        daemon.start()
        if at_start == 'pass':
            self.notify.wait_for('READY=1')
        else:
            daemon.wait_for_log('starting', 60)
        return daemon

    def test_sigterm_and_sigint_end_it_in_good_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self._run()
            daemon.signal(number)
            self.assertEqual(0, daemon.wait(60))
            self.assertIn('stopped', daemon.log_text())

    def test_sighup_reloads_and_goes_on(self):
        daemon = self._run()
        daemon.signal(signal.SIGHUP)
        daemon.wait_for_log('reloaded', 60)
        self.assertEqual(0, daemon.stop(10))

    def test_sigterm_ends_a_start_that_waits(self):
        daemon = self._run(FOR_EVER)
        self.assertEqual(0, daemon.stop(10))
        self.assertNotIn('stopped', daemon.log_text())

    def test_sigterm_ends_a_start_that_is_in_a_finalizer(self):
        """The interpreter drops exceptions raised there."""
        daemon = self._run(IN_A_FINALIZER)
        daemon.wait_for_log('in a finalizer', 60)
        self.assertEqual(0, daemon.stop(10))
        self.assertNotIn('Traceback', daemon.log_text())

    def test_one_that_does_not_stop_is_ended(self):
        daemon = self._run(at_stop=FOR_EVER)
        self.assertEqual(1, daemon.stop(10))
        self.assertNotIn('stopped', daemon.log_text())

    def test_readiness_reload_and_end(self):
        daemon = self._run()
        daemon.signal(signal.SIGHUP)
        self.notify.wait_for('RELOADING=1')
        daemon.wait_for_log('reloaded', 60)
        self.notify.wait_for('READY=1')
        self.assertEqual(0, daemon.stop(10))
        self.notify.wait_for('STOPPING=1')

    def test_it_is_alive_twice_in_the_time_allowed(self):
        self._run(WATCHDOG_USEC='400000')
        first = self.notify.wait_for('WATCHDOG=1')
        second = self.notify.wait_for('WATCHDOG=1')
        self.assertLess(second - first, 5 - 0.4, 'the default interval')

    def test_what_it_waits_for(self):
        self._run(UNAVAILABLE)
        self.notify.wait_for('STATUS=Waits: The database is not available: refused')

    def test_a_daemon_whose_periodics_died_is_not_alive(self):
        daemon = lifetime.Daemon('toy', Dying())
        self.assertTrue(daemon.alive)
        self.useFixture(fixtures.FakeLogger())
        daemon.start()
        daemon._periodics.stop()
        daemon._worker.join(10)
        self.assertFalse(daemon.alive)
