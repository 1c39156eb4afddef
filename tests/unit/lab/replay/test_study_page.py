"""The page and the charts of a study."""

import os
import re
from xml.etree import ElementTree

import fixtures
import testtools

from nova_lite.lab.replay import charts
from nova_lite.lab.replay import figures
from nova_lite.lab.replay import results
from nova_lite.lab.replay import stream
from nova_lite.lab.replay import study_page

SVG = '{http://www.w3.org/2000/svg}'


def run_of(name, shares):
    samples = [
        figures.Sample(
            at_s=1000.0 * index,
            accepted=index,
            rejected=0,
            servers=index,
            vcpus=share,
            memory=share,
            empty_hosts=3,
            fit=2,
            fit_whole=4,
            jain=0.5,
            variation=2.0,
        )
        for index, share in enumerate(shares)
    ]
    progress = stream.Progress(done=9, accepted=8, rejected=1, samples=samples, digest='ab12')
    progress.stages = {'placement': 1}
    progress.refused = {'placement': 2, 'ComputeFilter': 1}
    return {
        'setting': name,
        'options': {},
        'summary': stream.summary(progress),
        'series': results.series(samples),
        'times': {
            'decisions_per_s': 150.0,
            'decision_p99_s': 0.02,
            'decisions_ms': [[0.5, 3], [20.0, 1]],
        },
    }


def study(*names):
    asked = {
        'trace': 'a<b.csv',
        'arrivals': 9,
        'cells': 2,
        'hosts': 1200,
        'profile': 'default',
        'seed': 7,
        'reference': (16, 65536, 80),
        'digest': '0123456789abcdef0123',
    }
    return results.of(asked, [run_of(name, (0.0, 0.5, 0.25)) for name in names])


class PageTest(testtools.TestCase):
    def test_whole(self):
        page = study_page.page(study('a=1', 'a=<2>'))
        self.assertNotIn('a<b.csv', page)
        self.assertNotIn('a=<2>', page)
        # Nothing is loaded from elsewhere.
        self.assertNotRegex(page, r'<script|src=|href=|@import|url\(')
        self.assertIn('9 requests to 1,200 hosts in 2 cells, profile default, seed 7', page)
        self.assertIn('(SHA-256 0123456789abcdef…, 9 requests), 1,200 hosts, seed 7.', page)
        self.assertEqual(12, page.count('role="img"'))
        for chart in re.findall(r'<svg xmlns.*?</svg>', page, re.DOTALL):
            ElementTree.fromstring(chart)

    def test_files(self):
        directory = self.useFixture(fixtures.TempDir()).path
        study_page.write(directory, study('a=1'))
        drawn = os.listdir(os.path.join(directory, study_page.FIGURES))
        self.assertEqual(12, len(drawn))
        self.assertIn('empty_hosts.svg', drawn)
        for name in drawn:
            tree = ElementTree.parse(os.path.join(directory, study_page.FIGURES, name))
            texts = [each.text for each in tree.iter(f'{SVG}text')]
            self.assertEqual('a=1', texts[-1])
            self.assertIn('.c.s0{stroke:', tree.find(f'{SVG}style').text)


class ChartsTest(testtools.TestCase):
    def texts(self, chart):
        return [each.text for each in ElementTree.fromstring(chart).iter(f'{SVG}text')]

    def drawn(self, chart):
        return [
            each.get('points').split()
            for each in ElementTree.fromstring(chart).iter(f'{SVG}polyline')
        ]

    def curve(self, points, number=0):
        return charts.Curve(number, 'name', points)

    def test_scales(self):
        chart = charts.curves('Title', [self.curve([(0, 0), (7200, 130)])])
        self.assertEqual(
            ['Title', '0', '50', '100', '150', '0', '50', '100 min'], self.texts(chart)
        )
        (points,) = self.drawn(chart)
        bottom = f'{charts.HEIGHT - charts.BOTTOM:.1f}'
        self.assertEqual(f'{charts.LEFT:.1f},{bottom}', points[0])
        self.assertTrue(points[1].startswith(f'{charts.WIDTH - charts.RIGHT:.1f},'))

    def test_shares(self):
        chart = charts.curves(
            'Title', [self.curve([(0, 0.2), (86400 * 14, 0.3)])], form=charts.percent, highest=1.0
        )
        self.assertEqual(['0 %', '25 %', '50 %', '75 %', '100 %'], self.texts(chart)[1:6])
        self.assertEqual('10 d', self.texts(chart)[-1])

    def test_nothing_to_draw(self):
        """One point, values of zero, and no rejected request."""
        self.assertEqual(1, len(self.drawn(charts.curves('Title', [self.curve([(5, 0)])]))))
        self.assertEqual(['Title', 'none'], self.texts(charts.bars('Title', [])))

    def test_more_settings_than_colours(self):
        chart = charts.curves('Title', [self.curve([(0, 1)], number) for number in (0, 8)])
        self.assertIn('class="c s0"', chart)
        self.assertIn('class="c s0 dashed"', chart)

    def test_milliseconds(self):
        chart = charts.curves('Title', [self.curve([(0.5, 0.1), (20, 1)])], across='ms')
        self.assertEqual(['0.1', '1', '10', '100 ms'], self.texts(chart)[-4:])
