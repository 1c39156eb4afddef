"""Databases that a test has taken down."""

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite.db import outages
from nova_lite.db import transactions


class OutagesTest(testtools.TestCase):
    def database(self, name):
        path = self.useFixture(fixtures.TempDir()).join(f'{name}.sqlite')
        found = transactions.Database(f'sqlite:///{path}')
        self.addCleanup(found.dispose)
        return found

    def test_one_of_two(self):
        one, other = self.database('one'), self.database('other')
        outages.take_down(one.url)
        self.addCleanup(outages.bring_up, one.url)
        error = self.assertRaises(exception.Unavailable, one.read, self.ask)
        self.assertIn('injected fault', str(error))
        self.assertEqual(1, other.read(self.ask))
        outages.bring_up(one.url)
        outages.bring_up(one.url)
        self.assertEqual(1, one.write(self.ask))

    def ask(self, connection):
        return connection.execute(sa.text('SELECT 1')).scalar()
