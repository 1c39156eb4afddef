"""Work that waits: order, interruption, repetition, stopping."""

import dataclasses

import fixtures
from oslo_log import log
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import guest_work
from nova_lite.virt import model
from tests.fixtures import clock
from tests.fixtures import contexts

LOG = log.getLogger(__name__)


class Driver:
    """A driver of nothing but jobs, each of which ends when the test says so."""

    def __init__(self):
        self.known, self.is_away = {}, False

    def begin(self, name, ready_in=1.0):
        self.known[name] = model.Job(
            name, 'guest', 'node', model.Verb.SPAWN, model.JobState.RUNNING, ready_in
        )
        return self.known[name]

    def end(self, name, error=None):
        state = model.JobState.FAILED if error else model.JobState.DONE
        self.known[name] = dataclasses.replace(
            self.known[name], state=state, ready_in=0.0, error=error
        )

    def poll(self, job_id):
        if self.is_away:
            raise exception.Unavailable(service='The hypervisor')
        if job_id not in self.known:
            raise exception.NotFound()
        return self.known[job_id]


class TestJobs(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.driver = Driver()
        self.jobs = guest_work.Jobs(self.driver, threads=2)
        self.addCleanup(self.jobs.stop, 10)
        self.log = []

    def later(self, seconds):
        """Advance the time, and run all work that is due."""
        self.clock.advance(seconds)
        self.jobs.wake_due()
        self.assertTrue(self.jobs.wait_quiet(10))

    def wait_for(self, name, *, ready_in=1.0):
        self.log.append(f'{name} asks')
        job = yield from guest_work.ended(self.driver.begin(name, ready_in))
        self.log.append(f'{name} has {job.state}')

    def at_once(self, name):
        self.log.append(name)
        yield from ()

    def test_woken(self):
        def work():
            self.log.append('waits')
            yield guest_work.PauseForEvent(100)
            self.log.append('pauses')
            yield guest_work.Pause(100)
            self.log.append('ends')

        self.jobs.run('a', work())
        self.jobs.wake('b')
        self.jobs.wake('a')
        self.assertTrue(self.jobs.wait_quiet(10))
        self.jobs.wake('a')
        self.assertEqual(['waits', 'pauses'], self.log)
        self.later(100)
        self.assertEqual(['waits', 'pauses', 'ends'], self.log)

    def test_woken_before_it_waits(self):
        def work():
            self.jobs.wake('a')
            yield guest_work.PauseForEvent(100)
            self.log.append('continues')
            yield guest_work.PauseForEvent(100)

        self.jobs.run('a', work())
        self.assertEqual(['continues'], self.log)
        self.later(100)

    def test_in_the_calling_thread(self):
        here = runtime.current_thread().name

        def work():
            self.log.append(runtime.current_thread().name)
            yield from ()

        self.jobs.run('a', work())
        self.jobs.run('b', work(), here=False)
        self.assertTrue(self.jobs.wait_quiet(10))
        self.assertEqual(here, self.log[0])
        self.assertNotEqual(here, self.log[1])
        self.assertEqual(set(), self.jobs.keys())

    def test_log_lines_carry_the_request_that_asked(self):
        """Whichever thread resumes the work, and whatever that did before."""
        heard = self.useFixture(contexts.Contexts())
        asked = [context.RequestContext(overwrite=False) for _request in range(2)]
        for number, ctxt in enumerate(asked):
            with ctxt.bound():
                self.jobs.run(number, self.logging(f'job-{number}'))
        for number in (1, 0):
            self.driver.end(f'job-{number}')
        self.later(1)
        for number, ctxt in enumerate(asked):
            self.assertEqual([ctxt.request_id] * 2, heard.of(f'job-{number}'))

    def logging(self, name):
        LOG.info(name)
        yield from guest_work.ended(self.driver.begin(name))
        LOG.info(name)

    def test_work_of_a_kind_is_done_once_and_not_interrupted(self):
        self.jobs.run('a', self.wait_for('first'), kind='delete')
        for name in ('second', 'third'):
            self.jobs.run('a', self.at_once(name), kind='delete', interrupts=True)
        self.jobs.run('a', self.at_once('other'), interrupts=True)
        self.later(1)
        self.assertEqual(['first asks'], self.log)
        self.driver.end('first')
        self.later(1)
        self.assertEqual(['first asks', 'first has done', 'second', 'other'], self.log)

    def test_polls_until_ended(self):
        self.jobs.run('a', self.wait_for('job'))
        self.later(1)
        self.assertEqual(['job asks'], self.log)
        self.driver.end('job')
        self.later(0.5)
        self.assertEqual(['job asks'], self.log)
        self.later(0.5)
        self.assertEqual(['job asks', 'job has done'], self.log)

    def test_a_hypervisor_that_does_not_answer_for_a_while(self):
        """Its job goes on, and so does the work."""
        self.jobs.run('a', self.wait_for('job', ready_in=0.0))
        self.driver.is_away = True
        self.later(0)
        self.later(1)
        self.driver.end('job')
        self.later(1)
        self.assertEqual(['job asks'], self.log)
        self.driver.is_away = False
        self.later(1)
        self.assertEqual(['job asks', 'job has done'], self.log)

    def test_failed_job_raises(self):
        caught = []

        def work():
            try:
                yield from self.wait_for('job')
            except exception.DriverError as error:
                caught.append(error)

        self.jobs.run('a', work())
        self.driver.end('job', model.JobError('Broken', 'it broke', True))
        self.later(1)
        self.assertTrue(caught[0].reschedule)
        self.assertIn('it broke', caught[0].message)

    def test_vanished_job_raises(self):
        def work():
            try:
                yield from self.wait_for('job')
            except exception.NotFound:
                self.log.append('gone')

        self.jobs.run('a', work())
        self.driver.known.clear()
        self.later(1)
        self.assertEqual(['job asks', 'gone'], self.log)

    def test_one_after_the_other(self):
        self.jobs.run('a', self.wait_for('first'))
        self.jobs.run('a', self.at_once('second'))
        self.jobs.run('b', self.at_once('other key'))
        self.assertEqual(['first asks', 'other key'], self.log)
        self.driver.end('first')
        self.later(1)
        self.assertEqual(['first asks', 'other key', 'first has done', 'second'], self.log)
        self.assertEqual(set(), self.jobs.keys())

    def test_interrupt_while_it_waits(self):
        self.jobs.run('a', self.wait_for('first'))
        self.jobs.run('a', self.at_once('never begun'))
        self.jobs.run('a', self.at_once('last'), interrupts=True)
        self.assertTrue(self.jobs.wait_quiet(10))
        self.assertEqual(['first asks', 'last'], self.log)
        self.later(5)
        self.assertEqual(set(), self.jobs.keys())

    def test_interrupted_work_may_wait(self):
        def work():
            try:
                yield from self.wait_for('first')
            except guest_work.Interrupted:
                yield guest_work.Pause(2)
                self.log.append('tidied')
                raise

        self.jobs.run('a', work())
        self.jobs.run('a', self.at_once('last'), interrupts=True)
        self.assertTrue(self.jobs.wait_quiet(10))
        self.assertEqual(['first asks'], self.log)
        self.later(2)
        self.assertEqual(['first asks', 'tidied', 'last'], self.log)

    def test_interrupt_while_it_runs(self):
        def work():
            self.jobs.run('a', self.at_once('last'), interrupts=True)
            self.log.append('goes on to its next wait')
            yield guest_work.Pause(100)
            self.log.append('never')

        self.jobs.run('a', work())
        self.assertTrue(self.jobs.wait_quiet(10))
        self.assertEqual(['goes on to its next wait', 'last'], self.log)

    def test_insist(self):
        answers = [exception.Unavailable(service='it', reason='down')] * 3 + ['yes']

        def ask():
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        def work():
            self.log.append((yield from guest_work.insist(ask)))

        self.jobs.run('a', work())
        for seconds in (0.5, 1, 2):
            self.assertEqual([], self.log)
            self.later(seconds)
        self.assertEqual(['yes'], self.log)

    def test_crash_frees_the_key(self):
        def work():
            yield guest_work.Pause(1)
            raise ValueError('a bug')

        self.jobs.run('a', work())
        self.jobs.run('a', self.at_once('next'))
        self.later(1)
        self.assertEqual(['next'], self.log)

    def test_services_that_are_away_are_one_line(self):
        logger = self.useFixture(fixtures.FakeLogger())

        def work():
            yield guest_work.Pause(1)
            raise exception.Unavailable(service='The database', reason='connection refused')

        self.jobs.run('a', work())
        self.later(1)
        (line,) = logger.output.splitlines()
        self.assertIn('Work on a failed: The database', line)

    def test_stop_drops_what_waits(self):
        self.jobs.start()
        self.jobs.run('a', self.wait_for('job', ready_in=100))
        self.assertTrue(self.jobs.stop(10))
        self.jobs.run('b', self.at_once('too late'))
        self.assertEqual(['job asks'], self.log)


class TestClock(testtools.TestCase):
    """With the real clock."""

    def test_wakes_by_itself(self):
        runner = guest_work.Jobs(Driver(), threads=1)
        self.addCleanup(runner.stop, 10)
        runner.start()
        done = runtime.Event()

        def work(seconds):
            yield guest_work.Pause(seconds)
            if seconds < 1:
                done.set()

        runner.run('long', work(1000))
        runner.run('short', work(0.01))
        self.assertTrue(done.wait(60))
