"""Connections with less work for each message, over the embedded bus."""

from amqp import exceptions as amqp_exceptions
import oslo_messaging
from oslo_messaging._drivers import common
from oslo_messaging._drivers import impl_rabbit
import testtools

from nova_lite import conf
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.rpc import connection
from nova_lite.rpc import transport

# The default of rpc_publish_timeout.
PUBLISH_S = 3


class ConnectionTest(testtools.TestCase):
    def connect(self, purpose):
        memory_broker.install()
        bus = transport.open_bus(
            conf.make_conf(files=[]), f'{transport.EMBEDDED}{runtime.new_uuid()}'
        )
        self.addCleanup(bus.cleanup)
        pooled = bus._driver._get_connection(purpose)
        self.addCleanup(pooled.close)
        return pooled.connection

    def fails(self, *errors):
        """Return a method with these errors, one for each of its first calls, and its calls."""
        calls, left = [], list(errors)

        def method():
            calls.append(len(left))
            if left:
                raise left.pop(0)

        return method, calls

    def test_a_consumer_waits_for_a_message_and_not_for_acknowledgements(self):
        waits = []
        self.patch(
            impl_rabbit.Connection, 'consume', lambda _self, timeout=None: waits.append(timeout)
        )
        self.connect(common.PURPOSE_LISTEN).consume(timeout=0.001)
        self.assertEqual([connection.WAIT_S], waits)

    def test_what_succeeds_is_called_once(self):
        method, calls = self.fails()
        self.connect(common.PURPOSE_SEND).ensure(method, retry=2)
        self.assertEqual([0], calls)

    def test_a_lost_connection_is_made_again_for_another_try(self):
        sender = self.connect(common.PURPOSE_SEND)
        former = sender.channel
        method, calls = self.fails(amqp_exceptions.RecoverableConnectionError('lost'))
        sender.ensure(method, retry=2)
        self.assertEqual([1, 0], calls)
        self.assertIsNot(former, sender.channel)

    def test_tries_are_as_many_as_those_of_the_library(self):
        errors = [amqp_exceptions.RecoverableConnectionError('lost') for _number in range(9)]
        method, calls = self.fails(*errors)
        sender = self.connect(common.PURPOSE_SEND)
        self.assertRaises(oslo_messaging.MessageDeliveryFailure, sender.ensure, method, retry=1)
        ours = len(calls)
        method, calls = self.fails(*errors)
        self.assertRaises(
            oslo_messaging.MessageDeliveryFailure,
            impl_rabbit.Connection.ensure,
            self.connect(common.PURPOSE_SEND),
            method,
            retry=1,
        )
        self.assertEqual(len(calls), ours)

    def test_a_message_that_no_queue_takes_is_not_tried_again(self):
        method, calls = self.fails(oslo_messaging.MessageUndeliverable(None, None, None, None))
        sender = self.connect(common.PURPOSE_SEND)
        self.assertRaises(oslo_messaging.MessageUndeliverable, sender.ensure, method, retry=2)
        self.assertEqual([1], calls)

    def sender_and_timeouts(self):
        """Return a connection, and the list of timeouts that its socket will be given."""
        given = []
        self.patch(
            impl_rabbit.Connection,
            'set_transport_socket_timeout',
            lambda _self, timeout=None: given.append(timeout),
        )
        sender = self.connect(common.PURPOSE_SEND)
        del given[:]
        return sender, given

    def test_the_timeout_of_the_socket_is_set_where_it_is_another(self):
        sender, given = self.sender_and_timeouts()
        for timeout in (None, sender.heartbeat_timeout_threshold, 1):
            with sender._transport_socket_timeout(timeout):
                pass
        self.assertEqual([1, PUBLISH_S], given)

    def test_the_timeout_of_a_message_that_failed_is_set_back_by_the_next(self):
        sender, given = self.sender_and_timeouts()

        def fail():
            with sender._transport_socket_timeout(1):
                raise KeyError

        self.assertRaises(KeyError, fail)
        for _turn in range(2):
            with sender._transport_socket_timeout(None):
                pass
        self.assertEqual([1, PUBLISH_S, PUBLISH_S], given)
