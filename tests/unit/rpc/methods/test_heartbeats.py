"""A heartbeat whose reply is lost delays the next one by an interval at most."""

import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.rpc import transport
from nova_lite.rpc.methods import conductor

INTERVAL_S = 1


class TestHeartbeats(testtools.TestCase):
    def setUp(self):
        super().setUp()
        options = conf.make_conf(files=[])
        options.set_override('report_interval', INTERVAL_S)
        name = runtime.new_uuid()
        memory_broker.install()
        self.addCleanup(memory_broker.forget, name)
        bus = transport.open_bus(options, f'{transport.EMBEDDED}{name}')
        self.addCleanup(bus.cleanup)
        # Messages are accepted, and stay.
        topic = conductor.ConductorAPI.topic
        memory_broker.broker(name).routes[transport.EXCHANGE, topic][topic] = True
        self.client = conductor.ConductorAPI(bus)
        self.assertGreater(options.rpc_response_timeout, 20 * INTERVAL_S)

    def test_they_wait_for_an_interval(self):
        for call in (
            lambda: self.client.beat(context.admin(), hosts=['host'], version=1),
            lambda: self.client.evacuations_from(context.admin(), hosts=['host']),
        ):
            began = runtime.monotonic()
            self.assertRaises(exception.MessagingTimeout, call)
            took_s = runtime.monotonic() - began
            self.assertTrue(INTERVAL_S <= took_s < 20 * INTERVAL_S, took_s)
