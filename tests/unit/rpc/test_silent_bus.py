"""A bus that accepts and does not answer, as a broker that hangs."""

import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import rpc
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.rpc import outbox
from nova_lite.rpc import transport

PUBLISH_S = 0.2
# How messages are refused at once, after one has waited.
KNOWN = 'it does not answer'


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


class SilentBusTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = conf.make_conf(files=[])
        self.conf.set_override('rpc_publish_timeout', PUBLISH_S)
        self.name, self.manager = runtime.new_uuid(), Mail()
        memory_broker.install()
        self.addCleanup(memory_broker.forget, self.name)
        server = MailAPI.server(self.open(), 'mail', self.manager)
        server.start(override_pool_size=1)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        self.bus = memory_broker.broker(self.name)
        self.addCleanup(self.bus.heal)
        self.client, self.ctxt = MailAPI(self.open()), context.admin()
        self.assertEqual('first', self.client.ask(self.ctxt, word='first'))

    def open(self):
        bus = transport.open_bus(self.conf, f'{transport.EMBEDDED}{self.name}')
        self.addCleanup(bus.cleanup)
        return bus

    def wait_for(self, ready):
        deadline = runtime.monotonic() + 20
        while not ready():
            self.assertLess(runtime.monotonic(), deadline)
            runtime.sleep(0.01)

    def refused(self, method):
        """Send a message that is refused; return why."""
        error = self.assertRaises(
            exception.BusUnavailable, getattr(self.client, method), self.ctxt, word='lost'
        )
        self.assertTrue(error.transient and error.outage)
        return str(error)

    def wait_until_refused(self, method):
        """Send the first message, which waits for its timeout."""
        began = runtime.monotonic()
        self.assertNotIn(KNOWN, self.refused(method))
        # Without a timeout of its own it would wait for that of calls, which is 60 s.
        self.assertTrue(PUBLISH_S <= runtime.monotonic() - began < 30)

    def test_the_first_message_waits_for_its_timeout_and_others_not_at_all(self):
        self.bus.freeze()
        self.wait_until_refused('tell')
        for _message in range(20):
            self.assertIn(KNOWN, self.refused('tell'))
            self.assertIn(KNOWN, self.refused('ask'))

    def test_a_call_is_refused_as_soon_as_a_cast(self):
        self.bus.freeze()
        self.wait_until_refused('ask')
        self.assertIn(KNOWN, self.refused('ask'))

    def test_it_is_used_again_when_it_answers(self):
        self.bus.freeze()
        self.refused('ask')
        self.bus.heal()
        self.wait_for(self.answers)
        self.assertEqual('word', self.client.ask(self.ctxt, word='word'))

    def answers(self):
        try:
            return self.client.ask(self.ctxt, word='x') == 'x'
        except exception.BusUnavailable:
            return False

    def test_whether_it_answers_is_found_out_without_a_server(self):
        self.client.require_answers()
        self.client.require_answers('one that does not exist')
        self.bus.freeze()
        for known in (False, True):
            error = self.assertRaises(exception.BusUnavailable, self.client.require_answers)
            self.assertEqual(known, KNOWN in str(error))

    def test_what_was_accepted_is_delivered(self):
        """Messages that were not confirmed may arrive."""
        self.bus.freeze()
        self.refused('tell')
        self.assertEqual([], self.manager.told)
        self.bus.heal()
        self.wait_for(lambda: self.manager.told == ['lost'])

    def test_casts_of_an_outbox_wait_for_the_bus_in_their_order(self):
        posts = outbox.Outbox()
        self.addCleanup(posts.close)
        client = MailAPI(self.open(), casts=posts.lane())
        self.bus.freeze()
        for number in range(50):
            client.tell(self.ctxt, word=number)
        self.bus.heal()
        self.wait_for(lambda: len(dict.fromkeys(self.manager.told)) == 50)
        self.assertEqual(list(range(50)), list(dict.fromkeys(self.manager.told)))

    def test_an_outbox_is_bounded(self):
        posts = outbox.Outbox()
        self.addCleanup(posts.close)
        lane = posts.lane()
        held = runtime.Event()
        self.addCleanup(held.set)
        for _cast in range(outbox.MOST):
            lane.put(self.ctxt, 'tell', held.wait)
        error = self.assertRaises(exception.Unavailable, lane.put, self.ctxt, 'tell', held.wait)
        self.assertIn('casts are waiting', str(error))

    def test_a_request_may_outlast_its_outbox(self):
        """It has recorded what it was asked for, so it is answered as if it had been sent."""
        posts = outbox.Outbox()
        client = MailAPI(self.open(), casts=posts.lane())
        posts.close()
        self.assertIsNone(client.tell(self.ctxt, word='late'))

    def test_a_closed_outbox_drops_what_waits(self):
        posts = outbox.Outbox()
        client = MailAPI(self.open(), casts=posts.lane())
        self.bus.freeze()
        client.tell(self.ctxt, word='first')
        client.tell(self.ctxt, word='second')
        posts.close()
        self.bus.heal()
        self.wait_for(self.answers)
        self.assertNotIn('second', self.manager.told)
