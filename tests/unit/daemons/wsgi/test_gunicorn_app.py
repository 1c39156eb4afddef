"""Worker processes of gunicorn."""

import os
import subprocess
import sys

import fixtures
import testtools

# Creates and removes a file again and again in four processes. It may not be there before.
TURNS = """
import os, sys
from nova_lite.daemons.wsgi import gunicorn_app

@gunicorn_app.in_turn
def take():
    os.close(os.open(sys.argv[1], os.O_CREAT | os.O_EXCL))
    os.unlink(sys.argv[1])

children = []
for _number in range(4):
    child = os.fork()
    if not child:
        for _time in range(500):
            take()
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


class InTurnTest(testtools.TestCase):
    def test_processes_load_one_after_the_other(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'taken')
        ended = subprocess.run([sys.executable, '-c', TURNS, path], capture_output=True, text=True)
        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
