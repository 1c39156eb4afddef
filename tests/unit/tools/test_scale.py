"""The table and the curves of clouds of different sizes."""

from xml.etree import ElementTree

import testtools

from tools import curves
from tools import scale
from tools.comparison import table

SVG = '{http://www.w3.org/2000/svg}'


def _measured(**changed):
    return {**{figure.name: 10.0 for figure in scale.FIGURES}, **changed}


MEASURED = {100: _measured(ready_s=5.4, boots=20), 10000: _measured(ready_s=90, boots=15.25)}


class TableTest(testtools.TestCase):
    def test_a_column_for_each_size(self):
        shown = scale.rst(MEASURED)
        self.assertIn('   * - hosts\n     - 100\n     - 10,000\n', shown)
        self.assertIn('   * - ready, all new, s\n     - 5\n     - 90\n', shown)
        self.assertIn('   * - boots/s, 16 in flight\n     - 20.0\n     - 15.2\n', shown)

    def test_a_figure_that_was_not_measured(self):
        measured = _measured()
        del measured['boots']
        shown = scale.rst({100: _measured(boots=20), 100000: measured})
        self.assertIn('   * - boots/s, 16 in flight\n     - 20.0\n     - –\n', shown)
        self.assertIn('<svg', scale.picture({100: _measured(), 100000: measured}))

    def test_the_page_has_marks(self):
        made = table.between(scale.PAGE.read_text(), scale.BEGIN, scale.END, 'new')
        self.assertIn(f'{scale.BEGIN}\n\nnew\n{scale.END}\n', made)


class CurvesTest(testtools.TestCase):
    def test_a_panel_for_each_kind_of_figure(self):
        drawn = ElementTree.fromstring(scale.picture(MEASURED))  # noqa: S314 our own
        panels = drawn.findall(f'{SVG}g')
        self.assertEqual(len({figure.panel for figure in scale.FIGURES}), len(panels))
        # The axes, and the curves of two figures.
        self.assertEqual(3, len(panels[0].findall(f'{SVG}path')))
        self.assertIn('again', [text.text for text in panels[0].findall(f'{SVG}text')])

    def test_larger_values_stand_higher_and_larger_sizes_to_the_right(self):
        drawn = curves.svg([('a < b', {'': [(10, 1), (100, 4), (1000, 2)]})])
        circles = ElementTree.fromstring(drawn).iter(f'{SVG}circle')  # noqa: S314 our own
        places = [(float(each.get('cx')), float(each.get('cy'))) for each in circles]
        (left, low), (middle, high), (right, between) = places
        self.assertEqual(middle - left, right - middle)
        self.assertTrue(low > between > high)
        self.assertIn('a &lt; b', drawn)

    def test_one_size(self):
        self.assertIn('<circle', curves.svg([('a', {'': [(10, 1)]})]))
