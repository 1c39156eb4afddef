"""Buses of a cloud on real brokers: notifications are followed, and no queue is left."""

import json
import subprocess
import sys

import kombu
import testtools

from nova_lite import runtime
from nova_lite import states
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lab.launcher import state_dir
from nova_lite.verify import files
from nova_lite.verify import reader as verify_reader
from tests.fixtures import postgresql
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

ANSWER_S = 120


class BusesTest(testtools.TestCase):
    """The tests share a cloud of one cell with one host."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(rabbit.Rabbit, postgresql.PostgreSQL)
        cls.cloud = process_cloud.ProcessCloud(postgresql.PostgreSQL(), cells=1, hosts=1)
        cls.cloud.setUp()

    @classmethod
    def tearDownClass(cls):
        cls.cloud.cleanUp()
        super().tearDownClass()

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
        self.assertIn(self.cloud.state_dir, command.stderr.readline())
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

    def declare(self):
        """Make the queue of a host that does not exist."""
        url = self.cloud.brokers['cell1'].vhost_url('cell1').replace('rabbit://', 'amqp://')
        with kombu.Connection(url) as connection:
            connection.channel().queue_declare(queue='compute.ghost', auto_delete=False)

    def test_queue_of_a_host_without_a_service(self):
        directory = self.cloud.state_dir
        reader = verify_reader.Reader(
            state_dir.control_conf(directory), files.of_state_directory(directory)
        )
        self.addCleanup(reader.close)
        (cell,) = reader.cells.every(cell0=False)
        cell.db.write(services.beat, ['ghost'], services.COMPUTE, 'compute')
        self.declare()
        compute = self.cloud.admin.compute
        (service,) = compute.services(host='ghost')
        compute.delete_service(service)
        self.assertNotIn('compute.ghost', self.cloud.queues('cell1'))
        moved = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': runtime.new_uuid(),
            'migration_type': 'migration',
            'status': states.MigrationStatus.ERROR,
            'source_compute': 'ghost',
        }
        cell.db.write(migrations.create, moved)
        self.declare()
        self.assertEqual(
            [('I5', 'queue compute.ghost', 'on the bus of cell1 has no owner')],
            self.cloud.findings(settle_s=0),
        )
