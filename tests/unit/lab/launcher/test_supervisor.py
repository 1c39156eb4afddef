"""Children of a supervisor: pid files, restarts, stages, and the leash."""

import os
import signal
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
