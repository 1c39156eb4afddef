"""Events of a saga in the journal, however long the reason given by a service."""

import testtools

from nova_lite.db.api import sagas
from nova_lite.saga import journal
from tests.fixtures import database
from tests.fixtures import saga_rows

# More bytes than a TEXT of MariaDB holds, in fewer characters.
LONG = 'é' * 60_000


class TestLongNotes(testtools.TestCase):
    def test_what_a_service_said_at_length_is_kept(self):
        database_ = self.useFixture(database.ApiDatabase()).database
        uuid = saga_rows.create(database_)
        kept = sagas.Journal(database_)
        record = kept.acquire(uuid, 'owner', 15)
        note = journal.Note('retries', 'step', LONG)
        kept.park(record, [note], position=0, wake_in_s=5, attempts=1, data={})
        *_others, last = database_.read(sagas.events, uuid)
        self.assertEqual(LONG, last.detail)
