"""Commands that run for long, ended at many moments: by Ctrl-C, and by outputs that end.

No end shows a traceback, and each has the exit code of its kind.
"""

import os
import signal
import subprocess
import sys
import tempfile

from nova_lite.cmd import main
from tests.fixtures import traces
from tests.functional import test_scenarios

# {name: arguments}. The command ends by itself or not. $OUT is a new directory, $TRACE a trace.
# The others have the state directory of a cloud, where $CLOUD stands.
COMMANDS = {
    'bench': 'bench show --count 100000 --concurrency 2 $CLOUD',
    'demo': 'demo --scene boot',
    'events': 'events $CLOUD',
    'import': 'import $CLOUD',
    'logs': 'logs -f $CLOUD',
    'replay': 'replay $TRACE --hosts 20 --output $OUT',
    'saga': 'saga list $CLOUD',
    'scenario': 'scenario run quota-race $CLOUD',
    'twin': 'twin survives $CLOUD',
    'up': 'up --port 0 --state-dir $OUT',
    'verify': 'verify $CLOUD',
}
# Seconds after the start of the process. Before, the interpreter itself starts.
MOMENTS = (0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7, 2.5, 4.0)
LIMIT_S = 180
# A command that goes on without its output is interrupted after this time.
PATIENCE_S = 15
ARRIVALS = 5000
INTERRUPTED = {0, 1, main.INTERRUPTED, -signal.SIGINT}
SHOWN = ('Traceback', 'Exception ignored')


class InterruptedCommandsTest(test_scenarios.ScenarioTestCase):
    def setUp(self):
        super().setUp()
        rows = [f'vm{number},{number},,1,512,1' for number in range(ARRIVALS)]
        # Texts about ends that are not right.
        self.wrong = []
        self.trace = self.useFixture(traces.Traces()).write('t.csv', traces.HEADER, *rows)

    def start(self, line, out, errors):
        home = self.useFixture(traces.Traces()).path
        output = os.path.join(home, 'new')
        given = {'$CLOUD': f'--state-dir {self.state_dir}', '$TRACE': self.trace, '$OUT': output}
        for name, value in given.items():
            line = line.replace(name, value)
        process = subprocess.Popen(
            [sys.executable, '-m', 'nova_lite.cmd.entry', *line.split()],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, 'HOME': home, 'PYTHONUNBUFFERED': ''},
            start_new_session=True,
        )
        self.addCleanup(process.kill)
        return process

    def end(self, line, codes, out, interrupt_at=None):
        """Run a command to its end. interrupt_at: seconds until Ctrl-C"""
        with tempfile.TemporaryFile('w+') as errors:
            process = self.start(line, out, errors)
            try:
                process.wait(interrupt_at)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            code = process.wait(LIMIT_S)
            errors.seek(0)
            said = errors.read()
        if code not in codes or any(text in said for text in SHOWN):
            self.wrong.append(f'{line} at {interrupt_at} s: {code}: {said}')

    def check_all(self):
        """Check that all commands have ended rightly, and left the cloud as it was."""
        self.assertEqual([], self.wrong, '\n'.join(self.wrong))
        self.assert_restored()

    def test_interrupts(self):
        for line in COMMANDS.values():
            for moment in MOMENTS:
                self.end(line, INTERRUPTED, subprocess.DEVNULL, moment)
        self.scenario('undo')
        self.check_all()

    def test_closed_outputs(self):
        """The first line that is not read ends the command; one without a line ends as usual."""
        for line in COMMANDS.values():
            reading, writing = os.pipe()
            os.close(reading)
            with os.fdopen(writing, 'w') as closed:
                self.end(line, {*INTERRUPTED, main.UNREAD}, closed, PATIENCE_S)
        self.check_all()

    def test_full_outputs(self):
        for line in COMMANDS.values():
            with open('/dev/full', 'w') as full:
                self.end(line, {*INTERRUPTED, main.NOT_DONE}, full, PATIENCE_S)
        self.scenario('undo')
        self.check_all()
