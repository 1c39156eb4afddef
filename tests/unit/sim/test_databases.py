"""Errors of database servers for the faults that are drawn."""

import sqlalchemy as sa
import testtools

from nova_lite.db import errors
from tests.sim.world import postgresql
from tests.sim.world import sqlite


class FatesTestCase(testtools.TestCase):
    def test_each_server_has_an_error_for_each_fate(self):
        self.assertEqual([*sqlite.COMMITS], [*postgresql.COMMITS])
        self.assertEqual([*sqlite.STATEMENTS], [*postgresql.STATEMENTS])

    def test_both_servers_mean_the_same(self):
        for mine, its in (
            (
                {fate: error for fate, (_when, *error) in sqlite.COMMITS.items()},
                postgresql.COMMITS,
            ),
            (sqlite.STATEMENTS, postgresql.STATEMENTS),
        ):
            for fate, (number, text) in mine.items():
                kind, message = its[fate]
                expected = errors.classify(_wrapped(sqlite.reported(number, text)))
                self.assertIsNotNone(expected, fate)
                self.assertEqual(expected, errors.classify(_wrapped(kind(message))), fate)


def _wrapped(error):
    return sa.exc.OperationalError('UPDATE', {}, error)
