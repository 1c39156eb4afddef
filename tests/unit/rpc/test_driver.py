"""Errors of connections that the library could not open."""

from amqp import exceptions as amqp_exceptions
from kombu import exceptions as kombu_exceptions
import oslo_messaging
from oslo_messaging._drivers import amqpdriver
import testtools

from nova_lite import conf
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.rpc import transport

ERRORS = (
    kombu_exceptions.OperationalError('refused'),
    # While its channel is opened the connection exists already.
    ConnectionResetError(104, 'Connection reset by peer'),
    amqp_exceptions.RecoverableConnectionError('unknown error'),
)


class ConnectionsTest(testtools.TestCase):
    def test_a_broker_that_goes_is_away_whatever_the_library_calls_it(self):
        memory_broker.install()
        bus = transport.open_bus(
            conf.make_conf(files=[]), f'{transport.EMBEDDED}{runtime.new_uuid()}'
        )
        self.addCleanup(bus.cleanup)
        for error in ERRORS:

            def fail(*_args, error=error):
                raise error

            with self.subTest(type(error).__name__):
                self.patch(amqpdriver.AMQPDriverBase, '_get_connection', fail)
                self.assertRaises(
                    oslo_messaging.MessageDeliveryFailure, bus._driver._get_connection
                )
