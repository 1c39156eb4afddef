"""The administrator's guide names every filter and weigher there is."""

import pathlib

import testtools

from nova_lite.scheduler import filters
from nova_lite.scheduler import request_filters
from nova_lite.scheduler import weighers

GUIDE = pathlib.Path(__file__).parents[3] / 'doc/source/admin/scheduling.rst'


class DocumentationTest(testtools.TestCase):
    def test_all_are_named(self):
        text = GUIDE.read_text()
        names = [
            *filters.known(),
            *weighers.known(),
            *(one.__name__ for one in request_filters.ORDER),
        ]
        self.assertEqual([], [name for name in names if f'``{name}``' not in text])
