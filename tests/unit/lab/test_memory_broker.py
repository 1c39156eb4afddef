"""The broker inside the process: queues outlive consumers, and none is forgotten."""

import amqp
import kombu
import kombu.exceptions
import testtools

from nova_lite import runtime
from nova_lite.lab import memory_broker


class Consumer:
    def __init__(self):
        self.told = []

    def tell(self, name):
        self.told.append(name)


class BrokerTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.broker = memory_broker.Broker()

    def test_messages_wait_for_a_consumer(self):
        self.broker.put('q', 1)
        self.broker.put('q', 2)
        consumer = Consumer()
        self.broker.consume('q', consumer)
        self.assertEqual(['q', 'q'], consumer.told)
        self.assertEqual([1, 2], [self.broker.get('q'), self.broker.get('q')])
        self.assertRaises(runtime.Empty, self.broker.get, 'q')

    def test_consumers_of_a_queue_take_turns(self):
        consumers = [Consumer(), Consumer()]
        for consumer in consumers:
            self.broker.consume('q', consumer)
        for number in range(4):
            self.broker.put('q', number)
        self.assertEqual([2, 2], [len(consumer.told) for consumer in consumers])

    def test_what_a_consumer_left_is_told_to_another(self):
        leaving, staying = Consumer(), Consumer()
        self.broker.consume('q', leaving)
        self.broker.put('q', 1)
        self.broker.consume('q', staying)
        staying.told.clear()
        self.broker.cancel('q', leaving)
        self.assertEqual(['q'], staying.told)

    def test_a_deleted_queue_leaves_nothing(self):
        self.broker.put('q', 1)
        self.broker.routes['exchange', 'key']['q'] = True
        self.broker.delete('q')
        self.assertEqual({}, dict(self.broker.routes))
        self.assertNotIn('q', self.broker.queues)

    def test_a_bus_that_is_cut(self):
        consumer = Consumer()
        self.broker.consume('q', consumer)
        self.broker.put('q', 1)
        self.broker.cut()
        # Its connection is lost, and no other is made.
        self.assertEqual(['q', memory_broker.LOST], consumer.told)
        for call in (
            lambda: self.broker.put('q', 2),
            lambda: self.broker.consume('q', Consumer()),
            self.broker.require_connection,
        ):
            error = self.assertRaises(amqp.RecoverableConnectionError, call)
            self.assertIn('injected fault', str(error))
        self.broker.heal()
        self.broker.put('q', 2)
        self.assertEqual([1, 2], [self.broker.get('q'), self.broker.get('q')])

    def test_a_bus_that_is_frozen(self):
        consumer, late = Consumer(), Consumer()
        self.broker.consume('q', consumer)
        self.broker.put('q', 1)
        self.broker.freeze()
        # It accepts messages, and delivers none: neither the former one nor those that come.
        self.broker.put('q', 2)
        self.broker.consume('q', late)
        self.assertEqual((['q'], []), (consumer.told, late.told))
        self.assertRaises(runtime.Empty, self.broker.get, 'q')
        error = self.assertRaises(memory_broker.Silent, self.broker.wait_for_answer, 0)
        self.assertIsInstance(error, TimeoutError)
        self.broker.heal()
        self.broker.wait_for_answer(0)
        self.assertEqual(2, len(consumer.told) + len(late.told) - 1)
        self.assertEqual([1, 2], [self.broker.get('q'), self.broker.get('q')])

    def test_a_frozen_bus_confirms_no_message(self):
        name = self.id().lower()
        self.addCleanup(memory_broker.forget, name)
        memory_broker.install()
        connection = kombu.Connection(f'memory://{name}')
        self.addCleanup(connection.release)
        queue = connection.SimpleQueue('work')
        connection.transport.sock.settimeout(0)
        memory_broker.broker(name).freeze()
        self.assertRaises(memory_broker.Silent, queue.put, 'a message')
        memory_broker.broker(name).heal()
        # It was accepted nevertheless.
        self.assertEqual('a message', queue.get(block=False).payload)

    def test_a_frozen_bus_accepts_no_connection(self):
        name = self.id().lower()
        self.addCleanup(memory_broker.forget, name)
        memory_broker.install()
        memory_broker.broker(name).freeze()
        connection = kombu.Connection(f'memory://{name}', connect_timeout=0)
        error = self.assertRaises(
            kombu.exceptions.OperationalError, connection.ensure_connection, max_retries=1
        )
        self.assertIn('has not answered', str(error))
