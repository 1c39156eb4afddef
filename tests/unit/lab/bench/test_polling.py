"""Whose wait for a status a look at all servers ends."""

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import polling

UUID = runtime.new_uuid()


class Cloud:
    """One server, seen by a watch that has begun a while ago."""

    def __init__(self, status, task=None):
        self.server = {
            'id': UUID,
            'status': status,
            'OS-EXT-STS:task_state': task,
            'fault': {'message': 'no room'},
        }

    def call(self, method, path):
        listed = f'status={self.server["status"]}' in path or 'status=' not in path
        return {'servers': [self.server] if listed else []}


class WatchTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(polling, 'FAILURES_S', 0.1)

    def wait(self, cloud, wanted, seconds=0.5):
        watched = polling.Watch(cloud, 'bench', pause_s=0.01, timeout_s=seconds)
        with watched:
            return watched.wait(UUID, wanted)

    def test_there(self):
        began = runtime.monotonic()
        self.assertLessEqual(began, self.wait(Cloud('ACTIVE'), 'ACTIVE'))

    def test_at_rest_elsewhere(self):
        for status, wanted in (('ERROR', 'ACTIVE'), ('ACTIVE', 'VERIFY_RESIZE')):
            error = self.assertRaises(exception.Conflict, self.wait, Cloud(status), wanted, 60)
            self.assertIn(f'is {status}, not {wanted}: no room', str(error))

    def test_on_its_way(self):
        """One with a task, and one whose resize is being confirmed, which shows in none."""
        for cloud in (Cloud('ACTIVE', task='resize_prep'), Cloud('VERIFY_RESIZE')):
            wanted = 'ACTIVE' if cloud.server['status'] == 'VERIFY_RESIZE' else 'VERIFY_RESIZE'
            error = self.assertRaises(exception.Unavailable, self.wait, cloud, wanted)
            self.assertIn('after 0.5 s', str(error))
