"""Operations while buses accept and do not answer: what was accepted ends as asked.

One of each kind that casts is asked for, on a server of its own.
"""

import json

import testtools
from testtools import content

from nova_lite import runtime
from tests.fixtures import accepted
from tests.fixtures import casting
from tests.fixtures import cloud as cloud_fixture
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
# Longer than service_down_time, after which hosts would count as down.
FROZEN_S = 100
# Of all answers while a bus is frozen, and of lists of servers among them. A device is accepted
# by a super-conductor, which finds it after sweep_interval_s.
ANSWER_S, LIST_S = 12, 1
LIST = casting.Request('GET', '/servers/detail', None)
SETTLE_S = 240
# Answered with 503: the response contains what the host has done.
NEEDS_HOST = 'plug'


@sample.in_turns(2)
class SilentBusesTest(testtools.TestCase):
    settings = {'cells': 2, 'hosts': 3, 'options': {'quota': {'cores': -1, 'instances': -1}}}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.operations = accepted.Accepted(self.cloud)

    def test_a_cell(self):
        self.freeze('cell1')

    def test_all(self):
        self.freeze(None)

    def freeze(self, name):
        """Ask for all operations while a bus is frozen, or while all are. name: or None"""
        prepared = self.operations.prepare(['operation'])
        # First what has to find out by itself that the bus does not answer.
        prepared.sort(key=lambda each: each.name != NEEDS_HOST)
        faults, ends = self.cloud.cloud.faults, runtime.monotonic() + FROZEN_S
        faults.switch_bus('frozen', name)
        asked, listed = [], []
        for each in prepared:
            with self.cloud.server_errors.announced(503):
                asked.append(self.operations.ask(each))
            listed.append(self.list())
        runtime.sleep(max(0, ends - runtime.monotonic()))
        listed.append(self.list())
        faults.switch_bus('healed', name)
        answers = {each.name: (each.status, round(each.took_s, 2)) for each in asked}
        self.addDetail('answers', content.text_content(json.dumps(answers, indent=1)))
        self.end([each for each in asked if each.accepted])
        self.assertEqual([], self.cloud.findings())
        refused = {each.name: each.status for each in asked if not each.accepted}
        self.assertIn(refused, ({}, {NEEDS_HOST: 503}))
        self.assertLess(max(listed), LIST_S)
        self.assertLess(max(each.took_s for each in asked), ANSWER_S, answers)

    def list(self):
        """Return how long a list of servers took."""
        began = runtime.monotonic()
        answer = self.operations.send(LIST)
        self.assertEqual(200, answer.status_code, answer.text)
        return runtime.monotonic() - began

    def end(self, asked):
        """Wait until each operation has ended as asked."""
        self.cloud.wait_for(lambda: not self.operations.left(asked), 'the end', SETTLE_S, most_s=1)
        self.assertEqual([], self.operations.errors(asked))
