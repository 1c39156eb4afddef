"""The cloud that a program uses, and the report of its cases.

Interpreters of other programs import this: it needs the standard library alone. The variable
NOVA_LITE_SOFTWARE names a file of JSON with what `tests.software.resources` made.
"""

import json
import os
import pathlib
import subprocess
import time
import unittest

SETTINGS = json.loads(pathlib.Path(os.environ['NOVA_LITE_SOFTWARE']).read_text())
WAIT_S = 120


def wait(what, predicate, seconds=WAIT_S):
    """Return the first true value of a function. Raise AssertionError after some seconds."""
    deadline = time.monotonic() + seconds
    while not (found := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(f'{what}: not after {seconds} s')
        time.sleep(0.3)
    return found


def command(*words):
    """Run a command of nova-lite about the cloud, such as host off."""
    subprocess.run(
        [*SETTINGS['nova_lite'], *words, '--state-dir', SETTINGS['state_dir']], check=True
    )


class Report(unittest.TextTestResult):
    """Writes the result of each case as a line of JSON, too."""

    def startTestRun(self):
        super().startTestRun()
        pathlib.Path(SETTINGS['results']).touch()

    def _write(self, test, outcome, reason=''):
        # Without the name of the script. What is done once for a class has no case of its own.
        name = test.id() if ' ' in test.id() else test.id().partition('.')[2]
        line = {'test': name, 'outcome': outcome, 'reason': reason}
        with open(SETTINGS['results'], 'a') as file:
            file.write(json.dumps(line) + '\n')

    def addSuccess(self, test):
        super().addSuccess(test)
        self._write(test, 'pass')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._write(test, 'skip', reason)

    def addError(self, test, err):
        super().addError(test, err)
        self._write(test, 'fail', f'{err[0].__name__}: {err[1]}')

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._write(test, 'fail', f'{err[0].__name__}: {err[1]}')


def main():
    """Run the cases of the script that calls this."""
    runner = unittest.TextTestRunner(resultclass=Report, verbosity=2)
    unittest.main(testRunner=runner, exit=True)
