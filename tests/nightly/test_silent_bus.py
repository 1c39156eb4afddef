"""A RabbitMQ that is frozen for 100 s: what was accepted ends as asked, without waits."""

import json
import typing

import testtools
from testtools import content

from nova_lite import runtime
from nova_lite.lab.launcher import layout
from tests.fixtures import accepted
from tests.fixtures import casting
from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

FROZEN_S = 100
# Of all answers of the API while the broker is frozen, and of lists of servers among them. A
# device is accepted by a super-conductor, which finds it after sweep_interval_s (10 s).
ANSWER_S, LIST_S = 13, 1
LIST = casting.Request('GET', '/servers', None)
BOOTS, CLIENTS = 30, 8
SETTLE_S = 240
LOOK_S = 0.5
# Of those that are asked for meanwhile. Others may need a host that is known to be well.
ACCEPTED = 20


class Cloud(process_cloud.ProcessCloud):
    """With the options that operators get unless they say otherwise."""

    defaults: typing.ClassVar = {'quota': process_cloud.IMPATIENT['quota']}


class TestSilentBus(testtools.TestCase):
    """One RabbitMQ carries the top and both cells."""

    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(
            Cloud(
                mariadb.MariaDB(),
                hosts=3,
                profile='default',
                options={'api': {'workers': 2}},
                own_brokers=((layout.TOP, 'cell1', 'cell2'),),
            )
        )
        (self.broker,) = set(self.cloud.brokers.values())
        self.operations = accepted.Accepted(self.cloud)
        self.stopping = runtime.Event()

    def test_what_was_accepted_ends_as_asked(self):
        prepared = self.operations.prepare(['before', 'meanwhile'])
        before = [each for each in prepared if each.label.endswith('before')]
        boots = [self.operations.boot(f'boot {number}') for number in range(BOOTS)]
        asked = self._together(CLIENTS, before)
        self.broker.pause()
        self.addCleanup(self.broker.resume)
        ends = runtime.monotonic() + FROZEN_S
        with runtime.executor(2) as pool:
            lists, booted = pool.submit(self._list), pool.submit(self._together, BOOTS, boots)
            asked += self._spread([each for each in prepared if each not in before])
            runtime.wait(self.stopping, max(0, ends - runtime.monotonic()))
            self.stopping.set()
            listed, asked = lists.result(), asked + booted.result()
        self.broker.resume()
        self._show('answers', [(each.label, each.status, round(each.took_s, 2)) for each in asked])
        self._show('lists', sorted(round(each, 2) for each in listed)[-9:])
        self._end([each for each in asked if each.accepted])
        self.assertEqual([], self.cloud.findings())
        self._require_answers(asked, listed)

    # ---- asking ----

    def _together(self, clients, prepared):
        with runtime.executor(clients) as pool:
            return list(pool.map(self.operations.ask, prepared))

    def _spread(self, prepared):
        """Ask for one after the other, until the outage is nearly over."""
        asked, pause = [], 0.9 * FROZEN_S / len(prepared)
        for each in prepared:
            asked.append(self.operations.ask(each))
            runtime.wait(self.stopping, pause)
        return asked

    def _list(self):
        """Return how long each list of servers took."""
        took = []
        while not runtime.wait(self.stopping, LOOK_S):
            began = runtime.monotonic()
            answer = self.operations.send(LIST)
            took.append(runtime.monotonic() - began)
            self.assertEqual(200, answer.status_code, answer.text)
        return took

    # ---- judging ----

    def _show(self, name, found):
        self.addDetail(name, content.text_content(json.dumps(found, indent=1)))

    def _require_answers(self, asked, listed):
        refused = [(each.label, each.status, each.text) for each in asked if not each.accepted]
        self.assertEqual([], [each for each in refused if each[1] != 503])
        self.assertEqual([], [each for each in refused if each[0].endswith('before')])
        accepted_then = [
            each for each in asked if each.accepted and not each.label.endswith('before')
        ]
        self.assertGreaterEqual(len(accepted_then), ACCEPTED)
        self.assertLess(max(listed), LIST_S)
        self.assertLess(max(each.took_s for each in asked), ANSWER_S)

    def _end(self, asked):
        """Wait until each operation has ended as asked."""
        began = runtime.monotonic()
        while left := self.operations.left(asked):
            if runtime.monotonic() > began + SETTLE_S:
                self._show('errors', self.operations.errors(asked))
                self.fail(json.dumps(left, indent=1))
            runtime.sleep(LOOK_S)
        took = round(runtime.monotonic() - began, 1)
        self._show('ended', f'{took} s after the broker')
        self.assertEqual([], self.operations.errors(asked))
