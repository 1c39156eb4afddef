"""The deletion of a cloud, whatever an earlier deletion has left."""

import os
import pathlib
import shutil
import socket

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import deletion
from nova_lite.lab.launcher import layout

# What MariaDB sends in place of its greeting to a machine or a user that it does not know.
DENIED = b'\xff\x15\x04#28000Access denied'


class Killed(BaseException):
    """Ends a process."""


class DeletionTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.parent = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.root = self.parent / 'cloud'

    def make(self):
        places = layout.Layout(layout.Settings(state_dir=str(self.root)))
        places.prepare()
        places.release()

    def test_a_directory_of_the_name_that_a_deletion_gave(self):
        """It may be a former release's remains, or another cloud."""
        other = self.parent / 'cloud.deleted'
        other.mkdir()
        other.joinpath('mine').write_text('kept')
        self.make()
        deletion.delete(str(self.root))
        self.assertEqual(['cloud.deleted'], os.listdir(self.parent))
        self.assertEqual('kept', other.joinpath('mine').read_text())

    def test_after_a_deletion_that_was_killed(self):
        """The next one takes its remains along."""
        self.make()

        def kill(*args, **options):
            raise Killed()

        with fixtures.MonkeyPatch('shutil.rmtree', kill):
            self.assertRaises(Killed, deletion.delete, str(self.root))
        self.assertFalse(self.root.exists())
        self.assertEqual(1, len(os.listdir(self.parent)))
        self.make()
        deletion.delete(str(self.root))
        self.assertEqual([], os.listdir(self.parent))

    def test_a_server_that_rejects_the_password(self):
        """The cloud is kept, and the message names no option of another command."""
        self.make()
        with socket.create_server(('127.0.0.1', 0)) as server:
            port = server.getsockname()[1]
            url = f'mysql+pymysql://user:former@127.0.0.1:{port}/some'
            path = self.root / 'etc' / 'control.conf'
            path.write_text(f'[api_database]\nconnection = {url}\n')
            thread = runtime.spawn(self.deny, server)
            self.addCleanup(thread.join)
            error = self.assertRaises(deletion.NotDropped, deletion.delete, str(self.root))
        self.assertIn('The server rejects the credentials: Access denied. Correct', str(error))
        self.assertNotIn('--db', str(error))
        self.assertTrue(path.exists())

    def deny(self, server):
        client, _address = server.accept()
        with client:
            client.sendall(bytes([len(DENIED), 0, 0, 0]) + DENIED)

    def test_the_name_of_another_cloud(self):
        """A cloud whose name begins alike keeps its remains."""
        left = self.parent / '.cloud.more.deleted.x'
        shutil.copytree(self.parent, left)
        self.make()
        deletion.delete(str(self.root))
        self.assertTrue(left.exists())
