"""The process of `nova-lite up`."""

import json
import subprocess
import sys

import testtools

# Of use to other processes only: daemons, commands on a terminal.
OTHERS = {'gunicorn', 'oslo_reports', 'pygments', 'rich.progress'}
CODE = """
import json, sys
from nova_lite.launcher import embedded
from nova_lite.launcher import foreground
print(json.dumps(list(sys.modules)))
"""


class ImportsTestCase(testtools.TestCase):
    def test_what_a_cloud_in_one_process_does_not_import(self):
        done = subprocess.run(
            [sys.executable, '-c', CODE], check=True, capture_output=True, text=True
        )
        self.assertEqual(set(), OTHERS.intersection(json.loads(done.stdout)))
