"""Outlets and the notifier: a bus that is down delays and loses only its own messages."""

import json
import logging

import fixtures
import testtools

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.daemons.wsgi import server
from nova_lite.lab import memory_broker
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import hub
from nova_lite.notify import notifier
from nova_lite.notify import outlets

WAIT_S = 90
TOPICS = ['versioned_notifications']


def make_conf(**options):
    conf = conf_module.make_conf(files=[])
    conf.set_override('driver', ['messagingv2'], group='oslo_messaging_notifications')
    for name, value in options.items():
        conf.set_override(name, value, group='notifications')
    return conf


def message(number, priority='INFO'):
    return outlets.Message(
        body={
            'message_id': f'm-{number}',
            'publisher_id': 'nova-compute:host-1',
            'event_type': 'instance.reboot.end',
            'priority': priority,
            'payload': {'number': number},
            'timestamp': '2026-01-01 00:00:00',
        },
        legacy=None,
        context={'request_id': 'req-1'},
    )


class OutletTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.name = runtime.new_uuid()
        self.url = f'embedded://{self.name}'
        memory_broker.install()
        self.addCleanup(memory_broker.forget, self.name)

    def outlet(self, url, **options):
        made = outlets.Outlet(make_conf(**options), 'cell1', url)
        self.addCleanup(made.close)
        return made

    def test_sent_to_the_topic_of_its_priority(self):
        broker = memory_broker.broker(self.name)
        for name in ('info', 'error'):
            broker.routes['nova', f'versioned_notifications.{name}'][name] = True
        outlet = self.outlet(self.url)
        outlet.send(message(1))
        outlet.send(message(2, 'ERROR'))
        outlet.close()
        for name, number in (('info', 1), ('error', 2)):
            (sent,) = broker.queues[name]
            body = json.loads(sent['body'])
            told = json.loads(body['oslo.message'])
            self.assertEqual('2.0', body['oslo.version'])
            self.assertEqual({'number': number}, told['payload'])
            self.assertEqual('req-1', told['_context_request_id'])
            self.assertNotIn('_context_auth_token', told)

    def queues(self):
        return [name for name in memory_broker.broker(self.name).queues if 'notifications' in name]

    def test_without_a_consumer_no_queue_grows(self):
        outlet = self.outlet(self.url)
        for number in range(100):
            outlet.send(message(number))
        outlet.close()
        self.assertEqual([], self.queues())
        self.assertNotIn('Cannot send notifications', self.log.output)

    def test_a_broker_that_is_away(self):
        port = server.free_port()
        outlet = self.outlet(f'rabbit://a:b@127.0.0.1:{port}//', queue_size=50, pause_s=3600)
        began = runtime.monotonic()
        for number in range(1000):
            outlet.send(message(number))
        self.assertLess(runtime.monotonic() - began, WAIT_S)
        self.wait_for(lambda: 'Cannot send notifications' in self.log.output)
        self.assertEqual(1, self.log.output.count('Cannot send notifications'))
        self.assertNotIn('Traceback', self.log.output)

    def wait_for(self, condition):
        deadline = runtime.monotonic() + WAIT_S
        while not condition():
            if runtime.monotonic() > deadline:
                self.fail(self.log.output)
            runtime.sleep(0.05)


class DeskTest(testtools.TestCase):
    def test_nobody_listens(self):
        conf = conf_module.make_conf(files=[])
        silent = hub.Hub()
        found = notifier.Notifier(conf, 'embedded://x', silent, parts_of=spec_parts.of_record)
        self.assertFalse(found.is_wanted())
        listener = silent.listen()
        self.assertTrue(found.is_wanted())
        listener.close()
        self.assertFalse(found.is_wanted())

    def test_a_driver_that_does_nothing_is_none(self):
        conf = make_conf()
        conf.set_override('driver', ['noop'], group='oslo_messaging_notifications')
        self.assertEqual([], outlets.drivers(conf))

    def test_formats(self):
        both = outlets.Message(body={'a': 1}, legacy={'b': 2}, context={})
        for wanted, bodies in (
            ('versioned', [(TOPICS, {'a': 1})]),
            ('unversioned', [(['notifications'], {'b': 2})]),
            ('both', [(TOPICS, {'a': 1}), (['notifications'], {'b': 2})]),
        ):
            self.assertEqual(bodies, both.bodies(make_conf(notification_format=wanted)))


class HubTest(testtools.TestCase):
    def test_who_does_not_keep_up_loses_the_oldest(self):
        found = hub.Hub()
        listener = found.listen()
        for number in range(hub.KEPT + 7):
            found.publish('top', {'number': number})
        messages, dropped = listener.take(0)
        self.assertEqual(7, dropped)
        self.assertEqual(7, messages[0]['number'])
        self.assertEqual(hub.KEPT, len(messages))
        self.assertEqual(([], 0), listener.take(0))

    def test_one_hub_for_each_cloud(self):
        self.assertIs(hub.of('/a/cloud'), hub.of('/a/cloud/'))
        self.assertIsNot(hub.of('/a/cloud'), hub.of('/another'))
