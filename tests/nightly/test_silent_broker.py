"""A broker that hangs: it accepts connections and messages, and answers none."""

import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import rpc
from nova_lite import runtime
from nova_lite.rpc import outbox
from nova_lite.rpc import transport
from tests.fixtures import rabbit
from tests.fixtures import servers

PUBLISH_S = 1.0
# A sender may meet a connection that is being made: three attempts of 5 s each, and pauses.
CONNECT_S, BACK_S = 25, 60


class MailAPI(rpc.Interface):
    topic, version = 'mail', '1.0'

    @rpc.call(since='1.0')
    def ask(self, ctxt, word):
        """Return the word."""

    @rpc.cast(since='1.0')
    def tell(self, ctxt, word):
        """Keep the word."""


class Mail:
    def __init__(self):
        self.told = []

    def ask(self, ctxt, word):
        return word

    def tell(self, ctxt, word):
        self.told.append(word)


class TestSilentBroker(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit)
        self.broker = self.useFixture(rabbit.Rabbit('silent'))
        self.conf = conf.make_conf(files=[])
        self.conf.set_override('rpc_publish_timeout', PUBLISH_S)
        self.manager, self.ctxt = Mail(), context.admin()
        server = MailAPI.server(self.open(), 'mail', self.manager)
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        self.client = MailAPI(self.open())
        posts = outbox.Outbox()
        self.addCleanup(posts.close)
        self.api = MailAPI(self.open(), casts=posts.lane())
        for client in (self.client, self.api):
            self.assertEqual('word', client.ask(self.ctxt, word='word'))

    def open(self):
        bus = transport.open_bus(self.conf, self.broker.vhost_url('silent'))
        self.addCleanup(bus.cleanup)
        return bus

    def seconds(self, function):
        began = runtime.monotonic()
        function()
        return runtime.monotonic() - began

    def refused(self, method):
        self.assertRaises(
            exception.BusUnavailable, getattr(self.client, method), self.ctxt, word='x'
        )

    def answers(self):
        try:
            return self.client.ask(self.ctxt, word='word') == 'word'
        except exception.Unavailable:
            return False

    def wait_for(self, ready):
        deadline = runtime.monotonic() + BACK_S
        while not ready():
            self.assertLess(runtime.monotonic(), deadline)
            runtime.sleep(0.1)

    def test_nobody_waits_for_it(self):
        self.broker.daemon.pause()
        self.addCleanup(self.broker.daemon.resume)
        first = self.seconds(lambda: self.refused('ask'))
        self.assertTrue(PUBLISH_S <= first < CONNECT_S, first)
        for method in ('ask', 'tell'):
            self.assertLess(self.seconds(lambda method=method: self.refused(method)), 0.5)
        for word in range(20):
            self.assertLess(
                self.seconds(lambda word=word: self.api.tell(self.ctxt, word=word)), 0.5
            )
        self.broker.daemon.resume()
        self.wait_for(self.answers)
        self.wait_for(lambda: set(range(20)) <= set(self.manager.told))
