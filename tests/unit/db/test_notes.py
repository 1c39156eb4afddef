"""Notes: sent when they are committed, and never when they are not."""

import testtools

from nova_lite import exception
from nova_lite.db import notes
from tests.fixtures import database


class Recording:
    """A watcher that keeps what it is to send."""

    def __init__(self):
        self.sent = []
        self.wanted = True

    def wants(self):
        return self.wanted

    def wants_changes(self):
        return False

    def read(self, connection, found):
        return [(note.what, note.facts) for note in found]

    def send(self, found):
        self.sent += found


def record(connection, number):
    notes.add(connection, 'event', number=number)
    return number


class NotesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.CellDatabase()).database
        self.db.watcher = self.watcher = Recording()

    def test_sent_once_committed(self):
        self.assertEqual(3, self.db.write(record, 3))
        self.assertEqual([('event', {'number': 3})], self.watcher.sent)

    def test_a_transaction_that_fails_tells_nothing(self):
        def broken(connection):
            record(connection, 1)
            raise exception.Conflict('no')

        self.assertRaises(exception.Conflict, self.db.write, broken)
        self.assertEqual([], self.watcher.sent)

    def test_a_connection_keeps_nothing_for_the_next(self):
        def kept(connection):
            return notes.is_kept(connection)

        self.db.write(record, 1)
        self.assertTrue(self.db.write(kept))
        self.assertFalse(self.db.read(kept))
        self.watcher.wanted = False
        self.assertFalse(self.db.write(kept))
        self.db.write(record, 2)
        self.assertEqual([('event', {'number': 1})], self.watcher.sent)

    def test_without_a_watcher(self):
        self.db.watcher = None
        self.assertEqual(4, self.db.write(record, 4))
