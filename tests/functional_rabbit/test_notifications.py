"""Notifications over real brokers: followed from outside, and no queue is left."""

import json
import subprocess
import sys

import testtools

from tests.fixtures import postgresql
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

ANSWER_S = 120


class NotificationsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, postgresql.PostgreSQL)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(postgresql.PostgreSQL(), cells=1, hosts=1)
        )

    def notification_queues(self):
        return [
            name
            for broker in self.cloud.brokers
            for name in self.cloud.queues(broker)
            if 'notifications' in name or name.startswith('amq.gen')
        ]

    def test_a_boot_is_seen(self):
        self.cloud.boot('before anyone listens')
        self.assertEqual([], self.notification_queues())
        command = subprocess.Popen(
            [sys.executable, '-m', 'nova_lite.cmd.main', 'events', '--json', '--count', '4']
            + ['--state-dir', self.cloud.state_dir],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(command.communicate)
        self.addCleanup(command.kill)
        self.assertIn('of 2 buses', command.stderr.readline())
        server = self.cloud.boot('seen')
        output, errors = command.communicate(timeout=ANSWER_S)
        self.assertEqual(0, command.returncode, errors)
        told = {
            message['event_type']: message
            for message in (json.loads(line) for line in output.splitlines())
        }
        self.assertEqual(
            {
                'scheduler.select_destinations.start',
                'scheduler.select_destinations.end',
                'instance.create.start',
                'instance.create.end',
            },
            set(told),
        )
        created = told['instance.create.end']
        self.assertEqual('nova-compute:cell1-host1', created['publisher_id'])
        self.assertEqual(server.id, created['payload']['nova_object.data']['uuid'])
        decided = told['scheduler.select_destinations.end']
        self.assertNotEqual(created['bus'], decided['bus'])
        self.assertEqual([], self.notification_queues())
