"""Drills that end at each of their requests, in each way: the cloud is restored, or said not to be.

A row of the table is a way to end; it is tried at each request of a drill and of its undo.
"""

import json
import os
import signal

import fixtures
import testtools

from nova_lite import exception
from nova_lite.lab.console import interrupts
from nova_lite.lab.launcher import control_client
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import running
from nova_lite.lab.scenarios import undoing
from tests.fixtures import drilled_cloud
from tests.fixtures import signatures
from tools import sample

TEXT = """
title: A drill
purpose: a test
hosts: {source: near, other: near}
seconds: 5
look_at: [nothing]
steps:
  - text: Boot $guest
    boot: {servers: [guest], host: $source}
  - text: Look up the quota
    request: {method: GET, path: /os-quota-sets/demo, keep: {limit: quota_set.instances}}
  - text: Limit the project
    request:
      method: PUT
      path: /os-quota-sets/demo
      body: {quota_set: {instances: 3}}
      undo: {method: PUT, path: /os-quota-sets/demo, body: {quota_set: {instances: $limit}}}
  - text: Create a volume
    request: {service: volume, method: POST, path: /volumes, body: {volume: {name: drill-volume}}}
  - text: Disable $other
    request: {method: PUT, path: /os-services/$other, body: {status: disabled}}
  - text: Let spawns fail
    control: {name: faults/add, arguments: {verb: spawn}}
  - text: Power off $source
    control: {name: host, arguments: {name: $source, power: 'off'}}
verify: consistent
exam:
  after: Power off $source
  symptom: All is wrong.
  task: Mend it.
  solved: [{text: A server, signal: {get: /servers, at: 'servers.#', is: 1}}]
  solution: [{text: Mend it, control: {name: faults/clear, arguments: {}}}]
"""
# The exit code of a process that is killed, and what a drill says that ends as usual.
KILLED, USUAL = 99, ['The task is done']
GONE = exception.Unavailable(service='The cloud', reason='it has ended')


def kill(_cloud):
    os._exit(KILLED)


def interrupt(_cloud):
    os.kill(os.getpid(), signal.SIGINT)


def hang_up(_cloud):
    os.kill(os.getpid(), signal.SIGHUP)


def fail_once(_cloud):
    raise GONE


def go_away(cloud):
    cloud.is_gone = True
    raise GONE


def fill_the_disk(cloud):
    """Make each further write of the record fail."""
    os.makedirs(_draft(cloud.directory), exist_ok=True)


def _draft(directory):
    return f'{kept.path_of(directory)}.new'


class StruckCloud(drilled_cloud.DrilledCloud):
    """A cloud at one of whose requests something happens. is_gone: it answers no request"""

    is_gone = False

    def __init__(self, directory, act, number, when):
        super().__init__(directory, self._strike)
        self._act, self._number, self._when = act, number, when

    def _strike(self, number, done):
        if self.is_gone:
            raise GONE
        if (number, done) == (self._number, self._when):
            self._act(self)


@sample.in_turns(2)
class InterruptedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        for name, seconds in (('stage.LOOK_S', 0.001), ('restoring.UP_S', 0.3)):
            self.useFixture(fixtures.MonkeyPatch(f'nova_lite.lab.scenarios.{name}', seconds))
        self.drill = drills.parse('a', TEXT)
        self.directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(self.directory, 'run'))
        self.cloud = drilled_cloud.DrilledCloud(self.directory)

    @property
    def is_left(self):
        """Return whether a drill has left a record."""
        return os.path.exists(kept.path_of(self.directory))

    def play(self, cloud, say=lambda line: None):
        """Play the drill in a forked process. Return its end, and the number of requests.

        The end is the name of an error, KILLED, or the texts of the events that are not right.
        """
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            end = 'an error of the test'
            try:
                end = self._end(cloud, say)
            finally:
                os.write(writing, json.dumps([end, cloud.requests]).encode())
                os._exit(0)
        os.close(writing)
        with open(reading) as file:
            told = file.read()
        _pid, status = os.waitpid(pid, 0)
        return json.loads(told) if told else (os.waitstatus_to_exitcode(status), None)

    def _end(self, cloud, say):
        try:
            with interrupts.handled(signal.default_int_handler):
                found = running.Run(self.drill, cloud, say).play(lambda *_told: False)
        except (exception.NovaLiteError, KeyboardInterrupt, OSError) as error:
            return type(error).__name__
        return [event.text for event in found.events if not event.ok]

    def undo(self):
        with kept.locked(self.directory) as lock:
            return undoing.undo_former(self.cloud, lock, lambda line: None)

    def check(self, end, where):
        """The cloud is restored, or the record is kept and the drill says so."""
        is_restored = self.cloud.state() == self.first
        self.assertTrue(self.is_left or is_restored, where)
        if end != KILLED:
            is_said = isinstance(end, list) and undoing.KEPT in end
            self.assertEqual(self.is_left, is_said, (where, end))
        self.undo()
        self.assertEqual(self.first, self.cloud.state(), where)
        self.assertFalse(self.is_left, where)

    def strike(self, act, whens=(False, True)):
        """End a drill at each of its requests. Return all ends."""
        ends, self.first = [], self.cloud.state()
        _end, last = self.play(self.cloud)
        self.assertGreater(last, 30)
        for number in sample.turn(range(1, last + 1), 8):
            for when in whens:
                end, reached = self.play(StruckCloud(self.directory, act, number, when))
                if os.path.isdir(_draft(self.directory)):
                    os.rmdir(_draft(self.directory))
                self.check(end, (number, when))
                # A drill looks as often as it needs to.
                if reached is None or reached >= number:
                    ends.append(end)
        return ends

    def test_usual(self):
        self.first = self.cloud.state()
        end, _last = self.play(self.cloud)
        self.assertEqual(USUAL, end)
        self.assertFalse(self.is_left)
        self.check(end, 'usual')

    def test_killed(self):
        for end in self.strike(kill):
            self.assertEqual(KILLED, end)

    def test_interrupted(self):
        ends = self.strike(interrupt, [True])
        self.assertEqual('KeyboardInterrupt', ends[0])
        self.assertEqual(USUAL, ends[-1])

    def test_hung_up(self):
        self.assertEqual('KeyboardInterrupt', self.strike(hang_up, [True])[0])

    def test_one_request_fails(self):
        ends = self.strike(fail_once)
        self.assertEqual('Unavailable', ends[0])
        self.assertNotIn(USUAL, ends)

    def test_the_cloud_ends(self):
        ends = self.strike(go_away)
        self.assertNotIn(USUAL, ends)
        self.assertIn(undoing.KEPT, ends[-1])

    def test_the_disk_is_full(self):
        ends = self.strike(fill_the_disk, [True])
        self.assertEqual('NotWritten', ends[0])
        self.assertEqual(USUAL, ends[-1])

    def test_nobody_reads(self):
        """The output is a closed pipe, from one of the lines on."""
        self.first, lines = self.cloud.state(), []

        def say(line):
            lines.append(line)
            if len(lines) > most:
                raise BrokenPipeError()

        ends = []
        for most in range(20):
            end, _last = self.play(self.cloud, say)
            self.check(end, most)
            ends.append(end)
        self.assertEqual('BrokenPipeError', ends[0])
        self.assertEqual(USUAL, ends[-1])

    def test_doubles(self):
        for double, real in (
            (drilled_cloud.DrilledCloud, clients.Cloud),
            (drilled_cloud.Control, control_client.Client),
        ):
            self.assertEqual([], signatures.differences(double, real))
