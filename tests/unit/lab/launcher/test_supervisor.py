"""Children of a supervisor: pid files, restarts, stages, and the leash."""

import os
import signal
import subprocess
import sys

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import supervisor
from tests.fixtures import forking
from tests.fixtures import processes

MODULE = 'tests.fixtures.obedient'
SILENT_S = 0.2
# Ends when something is written to the pipe, after it has been told to stop.
SLOW = 'trap "echo stopping; read word < $0; echo ended; exit 0" TERM; echo ready; read word < $0'
OWNER = """
import importlib, sys
from nova_lite.lab.launcher import layout, supervisor
from nova_lite import runtime
places = layout.Layout(layout.Settings(state_dir=sys.argv[1]))
child = supervisor.Child('toy.one', 'tests.fixtures.obedient', '-', places=places, stage=1)
supervisor.Supervisor(importlib.import_module(sys.argv[2]).launch).add(child)
print('started', flush=True)
runtime.sleep(1000)
"""


class SupervisorTests(testtools.TestCase):
    launch = staticmethod(supervisor.launch)

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.places = layout.Layout(layout.Settings(state_dir=self.directory))
        self.supervisor = supervisor.Supervisor(self.launch)
        self.addCleanup(self.supervisor.stop)

    def add(self, name, stage=1):
        child = supervisor.Child(name, MODULE, '-', places=self.places, stage=stage)
        self.supervisor.add(child)
        self.wait_for(lambda: 'ready' in self.log(name))
        return child

    def log(self, name):
        with open(self.places.path('log', f'{name}.log')) as log:
            return log.read()

    def wait_for(self, condition):
        deadline = runtime.monotonic() + 60
        while not condition():
            self.assertTrue(runtime.monotonic() < deadline)
            runtime.sleep(0.02)

    def test_a_pid_file_names_the_process(self):
        child = self.add('toy.one')
        with open(self.places.path('run', 'toy.one.pid')) as file:
            self.assertEqual(child.process.pid, int(file.read()))

    def test_one_that_was_killed_is_started_again(self):
        child = self.add('toy.one')
        os.kill(child.process.pid, signal.SIGKILL)
        self.wait_for(lambda: self.log('toy.one').count('ready') == 2)
        self.assertEqual(2, child.starts)

    def test_one_that_is_held_stays_stopped(self):
        child = self.add('toy.one')
        self.supervisor.hold('toy.one')
        self.assertEqual('stopped', child.state)
        self.assertRaises(supervisor.NotRunning, self.supervisor.kill, 'toy.one')
        # Another child that is killed is started again, so that this one would be, too.
        self.add('toy.two')
        self.supervisor.kill('toy.two')
        self.wait_for(lambda: self.log('toy.two').count('ready') == 2)
        self.assertEqual(1, child.starts)
        self.supervisor.release('toy.one')
        self.wait_for(lambda: self.log('toy.one').count('ready') == 2)
        self.assertEqual('running', child.state)
        self.supervisor.release('toy.one')
        self.assertEqual(2, child.starts)

    def spawn_other(self):
        """Start a process that the supervisor does not know, in a group of its own."""
        other = subprocess.Popen(['cat'], stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(other.communicate)
        return other

    def assert_runs(self, other):
        other.terminate()
        self.assertEqual(-signal.SIGTERM, other.wait())

    def test_one_whose_id_another_process_has_is_stopped_again(self):
        """The system gives the id of a process that has been waited for to another one."""
        child = self.add('toy.one')
        self.supervisor.hold('toy.one')
        other = self.spawn_other()
        child.process.pid = other.pid
        self.supervisor.hold('toy.one')
        self.supervisor.stop()
        self.assert_runs(other)

    def test_one_whose_id_another_process_has_is_killed_in_a_pause(self):
        child = supervisor.Child('toy.one', MODULE, '-', places=self.places, stage=1)
        # No thread watches it.
        self.supervisor.children.append(child)
        child.start(self.start)
        self.supervisor.kill('toy.one')
        self.wait_for(lambda: child.state == 'starting')
        child.watch(self.start)
        other = self.spawn_other()
        child.process.pid = other.pid
        self.assertRaises(supervisor.NotRunning, self.supervisor.kill, 'toy.one')
        self.assert_runs(other)

    def start(self, module, options, output):
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        try:
            return self.launch(module, options, output, reader)
        finally:
            os.close(reader)

    def test_one_is_started_while_it_stops(self):
        """It is started when it has stopped: two of them would do the same work."""
        fifo = os.path.join(self.directory, 'fifo')
        os.mkfifo(fifo)

        def launch(module, options, output, end):
            return subprocess.Popen(
                ['bash', '-c', SLOW, fifo], stdout=output, stderr=output, start_new_session=True
            )

        self.supervisor = supervisor.Supervisor(launch)
        self.addCleanup(self.supervisor.stop)
        # A process that waits for the pipe ends with it.
        pipe = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, pipe)
        self.add('toy.one')
        hold = runtime.spawn(self.supervisor.hold, 'toy.one')
        self.wait_for(lambda: 'stopping' in self.log('toy.one'))
        release = runtime.spawn(self.supervisor.release, 'toy.one')
        release.join(SILENT_S)
        has_waited = release.is_alive()
        os.write(pipe, b'go\n')
        hold.join()
        release.join()
        self.wait_for(lambda: self.log('toy.one').count('ready') == 2)
        self.assertTrue(has_waited)
        self.assertEqual(['ready', 'stopping', 'ended', 'ready'], self.log('toy.one').split())
        self.supervisor.kill('toy.one')

    def test_an_unknown_one(self):
        self.add('toy.one')
        for change in (self.supervisor.kill, self.supervisor.hold, self.supervisor.release):
            error = self.assertRaises(supervisor.Unknown, change, 'toy.on')
            self.assertIn("Did you mean 'toy.one'?", str(error))

    def test_stop_goes_stage_by_stage(self):
        self.supervisor = supervisor.Supervisor(forking.launch)
        self.addCleanup(self.supervisor.stop)
        for name, stage in (('toy.low', 1), ('toy.high', 3), ('toy.middle', 2)):
            self.add(name, stage)
        self.supervisor.stop()
        ends = {
            name: float(self.log(name).split()[-1])
            for name in ('toy.high', 'toy.middle', 'toy.low')
        }
        self.assertEqual(list(ends), sorted(ends, key=ends.get))
        self.assertEqual([], os.listdir(self.places.path('run', '')))

    def test_children_end_when_the_supervisor_is_killed(self):
        directory = self.useFixture(fixtures.TempDir()).path
        owner = self.useFixture(
            processes.Daemon(
                [sys.executable, '-c', OWNER, directory, self.launch.__module__],
                name='owner',
                env={'PYTHONPATH': os.getcwd()},
            )
        )
        owner.start()
        log = os.path.join(directory, 'log', 'toy.one.log')
        self.wait_for(lambda: os.path.exists(log) and 'ready' in _read(log))
        os.kill(owner.pid, signal.SIGKILL)
        self.wait_for(lambda: 'ended' in _read(log))


def _read(path):
    with open(path) as file:
        return file.read()


class LayoutTests(testtools.TestCase):
    def test_a_state_directory_has_one_cloud(self):
        directory = self.useFixture(fixtures.TempDir()).path
        settings = layout.Settings(state_dir=directory)
        first, second = layout.Layout(settings), layout.Layout(settings)
        first.prepare()
        self.assertRaises(exception.Conflict, second.prepare)
        first.release()
        second.prepare()
        self.assertEqual(first.secrets, second.secrets)
        second.release()

    def test_fresh_forgets_once(self):
        directory = self.useFixture(fixtures.TempDir()).path
        places = layout.Layout(layout.Settings(state_dir=directory))
        places.prepare()
        former = places.secrets
        places.release()
        places.prepare(fresh=True)
        self.assertNotEqual(former, places.secrets)
        kept = places.secrets
        places.prepare(fresh=True)
        self.assertEqual(kept, places.secrets)
        places.release()
