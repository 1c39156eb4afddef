"""`nova-lite saga list` and `saga show`: for people in 80 columns, and as JSON with types."""

import datetime
import json

from nova_lite.saga import breakpoints as points
from tests.fixtures import commands
from tests.functional import own_cloud

TYPES = {
    'uuid': str,
    'instance_uuid': str,
    'server': str,
    'attempts': int,
    'epoch': int,
    'status': str,
}


class SagaListTest(own_cloud.OwnCloudTest):
    settings = {'cells': 2, 'hosts': 2}

    def run_command(self, *words):
        state = self.cloud.cloud.places.root
        code, out, errors = commands.run(*words, '--state-dir', state)
        self.assertEqual((0, ''), (code, errors))
        return out

    def test_a_move_that_is_stopped_and_one_that_is_done(self):
        server = self.cloud.boot('a-server-of-mine')
        debugger = self.cloud.cloud.debugger
        debugger.add(server=server.id, step='copy')
        self.cloud.admin.compute.live_migrate_server(server, block_migration='auto')
        self.cloud.wait_for(lambda: debugger.show()['stopped'], 'the saga to be stopped')
        [line] = self.lines('saga', 'list')
        self.assertIn('| a-server-of-mine | live-migration | stopped before copy', line)
        debugger.go_on(server.id, points.GO)
        self.cloud.wait(server, 'ACTIVE')
        [line] = self.lines('saga', 'list')
        self.assertIn('| live-migration | done ', line)
        # The beginning of the uuid is enough to show it.
        shown = json.loads(self.run_command('saga', 'show', line[2:10], '--json'))
        for name, kind in TYPES.items():
            self.assertIsInstance(shown[name], kind, name)
        self.assertIsNone(shown['step'])
        times = [shown['created_at'], shown['finished_at'], *(e['at'] for e in shown['events'])]
        for text in times:
            zone = datetime.datetime.fromisoformat(text).utcoffset()
            self.assertEqual(datetime.timedelta(), zone, text)
        self.assertIn(
            '| server        | a-server-of-mine', self.run_command('saga', 'show', line[2:10])
        )

    def lines(self, *words):
        """Return the rows that a command prints on a terminal of 80 columns."""
        found = self.run_command(*words).splitlines()
        self.assertEqual([], [line for line in found if len(line) > 80])
        return [line for line in found if line.startswith('| ')][1:]

    def test_what_does_not_exist(self):
        state = self.cloud.cloud.places.root
        code, _out, errors = commands.run('saga', 'show', 'nosuch', '--state-dir', state)
        self.assertEqual(2, code)
        self.assertIn('Saga nosuch could not be found', errors)
