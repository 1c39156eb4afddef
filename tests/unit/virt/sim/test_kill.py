"""A process that is killed in the midst of its work leaves whole effects only."""

import os
import signal
import subprocess
import sys

from nova_lite.virt import model
from nova_lite.virt.sim import census
from tests.unit.virt.sim import base

WORKER = """
import sys
from nova_lite.virt.sim import driver
from tests.unit.virt.sim import base
made = driver.SimDriver(sys.argv[1], ['n1'], 'instant')
for number in range(1_000_000):
    made.spawn('n1', base.guest_spec(f'g{number}'), key='k')
    print(number, flush=True)
"""


class KillTests(base.SimTestCase):
    def test_kill(self):
        worker = subprocess.Popen(
            [sys.executable, '-c', WORKER, self.path('a')],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        )
        self.addCleanup(worker.stdout.close)
        for number in range(40):
            self.assertEqual(number, int(worker.stdout.readline()))
        census.guests(self.path('a'))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        told = 40 + len(worker.stdout.readlines())
        # Without a daemon, then with another one.
        found = census.guests(self.path('a'))
        self.assertIn(len(found), (told, told + 1))
        self.assertTrue(all(row.running for row in found))
        made = self.hosts(name='a')
        for number in range(len(found)):
            job = made.spawn('n1', base.guest_spec(f'g{number}'), key='k')
            self.assertEqual(model.JobState.DONE, job.state)
        self.assertEqual(len(found), len(made.list_guests('n1')))
