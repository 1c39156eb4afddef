"""The command `events` follows the notifications of a cloud from another process."""

import json
import os

from tests.fixtures import forking
from tests.functional import base
from tests.functional import test_notifications
from tests.sim.cases import loading

load_tests = loading.load_tests


class EventsCommandTest(base.CloudTest):
    plain = True
    settings = {'cells': 1, 'hosts': 1}

    def pipe(self):
        """(file to read from, file to write to)."""
        files = [os.fdopen(end, mode) for end, mode in zip(os.pipe(), 'rw', strict=True)]
        for file in files:
            self.addCleanup(file.close)
        return files

    def follow(self, *words):
        """(the command, its output, its errors), once it listens."""
        (output, out), (errors, err) = self.pipe(), self.pipe()
        with out, err:
            command = forking.command(
                ['nova_lite.cmd.main', 'events', *words, '--state-dir', self.cloud.state_dir],
                files=(None, out, err),
            )
        self.addCleanup(command.kill)
        self.assertIn('Following', errors.readline() and errors.readline())
        return command, output, errors

    def test_from_another_process(self):
        command, output, _errors = self.follow('--json', '--count', '4')
        server = self.cloud.boot()
        self.assertEqual(0, command.wait(60))
        messages = [json.loads(line) for line in output]
        self.assertEqual(4, len(messages))
        self.assertEqual(
            sorted(test_notifications.CREATED),
            sorted(message['event_type'] for message in messages),
        )
        self.assertEqual(
            {server.id},
            {
                data.get('uuid') or data.get('instance_uuid')
                for data in (message['payload']['nova_object.data'] for message in messages)
            },
        )

    def test_nobody_reads_them_any_more(self):
        command, output, errors = self.follow()
        output.close()
        self.cloud.boot()
        self.assertEqual(141, command.wait(60))
        self.assertNotIn('Traceback', errors.read())

    def test_of_one_server(self):
        first = self.cloud.boot()
        command, output, _errors = self.follow('--server', first.id, '--count', '2')
        self.cloud.boot('other')
        self.cloud.admin.compute.reboot_server(first, 'HARD')
        self.assertEqual(0, command.wait(60))
        self.assertEqual(
            ['instance.reboot.start', 'instance.reboot.end'],
            [line.split()[3] for line in output],
        )
