"""Periodic searches go on behind whatever fails."""

import types

import fixtures
import testtools

from nova_lite import exception
from nova_lite.lifecycle import searches


class CellSearchTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())

    def test_one_cell_holds_up_no_other(self):
        errors = {
            'cell1': exception.Unavailable(service='The database', reason='refused'),
            'cell2': KeyError('a defect'),
        }
        looked = []

        def look(cell):
            looked.append(cell.name)
            if cell.name in errors:
                raise errors[cell.name]

        cells = [types.SimpleNamespace(name=name) for name in ('cell1', 'cell2', 'cell3')]
        searches.each(cells, look, what='servers')
        self.assertEqual(['cell1', 'cell2', 'cell3'], looked)
        self.assertIn(
            'Skipping cell cell1 in the search for servers: The database', self.logger.output
        )
        self.assertIn('Skipping cell cell2 in the search for servers\n', self.logger.output)
        self.assertEqual(1, self.logger.output.count('Traceback'))
