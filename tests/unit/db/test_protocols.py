"""Implementations of protocols by the databases, compared by mypy."""

import testtools

from nova_lite.db import notes
from nova_lite.db.api import models
from nova_lite.db.api import sagas
from nova_lite.notify import notifier
from nova_lite.notify import watch
from nova_lite.saga import journal
from tests.fixtures import database


def journals(real: sagas.Journal) -> list[journal.Journal]:
    return [real]


def records(row: models.Saga) -> list[journal.Record]:
    return [row]


def notifiers(real: notifier.Notifier) -> list[watch.Notifier]:
    return [real]


def watchers(real: watch.Watcher) -> list[notes.Watcher]:
    return [real]


class ProtocolsTest(testtools.TestCase):
    def test_a_row_has_all_of_a_record(self):
        """Given the table of sagas, then each attribute of a Record is a column of it."""
        self.assertEqual(set(), journal.Record.__annotations__.keys() - sagas.TABLE.c.keys())

    def test_a_journal_without_sagas(self):
        """Given an empty journal, when an engine asks, then nothing is due or found."""
        for found in journals(sagas.Journal(self.useFixture(database.ApiDatabase()).database)):
            self.assertEqual([], found.due(10))
            self.assertIsNone(found.find('saga'))
