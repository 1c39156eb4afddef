"""The live page with 10,000 hosts in a browser; tests/nightly/test_live_page.py has their cloud."""

import testtools

from nova_lite.daemons.wsgi import server
from nova_lite.lab.page import app
from nova_lite.lab.page import details
from tests.fixtures import browser as browser_fixture
from tests.unit.lab.page import readings

CELLS, HOSTS = ('cell1', 'cell2'), 5000
LOADS, MOST_TASK_MS = 3, 100
PHONE = 390, 844
MAP = "performance.getEntriesByName('map')[0]?.startTime"
# How long it takes to colour the map in another way.
COLOUR = """
const began = performance.now();
document.querySelector(`#map input[value=${arguments[0]}]`).click();
return performance.now() - began;
"""


class Reader:
    """Stands for the databases of a cloud: cell1 is loaded, half of cell2 is disabled."""

    def __init__(self):
        names = {cell: [f'{cell}-host{n}' for n in range(HOSTS)] for cell in CELLS}
        cells = [(readings.cell(cell), readings.here(*names[cell])) for cell in CELLS]
        for compute in cells[1][1].computes[: HOSTS // 2]:
            compute.disabled = True
        loads = {name: {'VCPU': (number % 256, 256)} for number, name in enumerate(names['cell1'])}
        self.found = readings.whole(cells, loads=loads)

    def read(self):
        return self.found

    def close(self):
        pass


class ManyHostsTest(testtools.TestCase):
    def test_it_loads_within_a_second(self):
        page = app.Page(lambda _environ, _start: [])
        source = details.Source(
            Reader(), lambda: readings.NO_FAULTS, lambda: None, lambda _uuid: {}
        )
        page.renew(source)
        running = server.InProcess(page, threads=12)
        running.start()
        self.addCleanup(running.stop)
        self.addCleanup(lambda: page.end()())
        browser = self.useFixture(browser_fixture.Browser())
        times = []
        # A machine that does other work may be late once.
        while not times or (min(times) >= browser_fixture.MOST_PAINT_MS and len(times) < LOADS):
            browser.driver.get(f'{running.url}/')
            times.append(browser.wait_for(MAP, 'the map'))
        self.assertLess(min(times), browser_fixture.MOST_PAINT_MS, times)
        browser.run("document.getElementById('map').scrollIntoView({ block: 'center' })")
        browser.take_picture('live-page-map')
        tasks = [browser.run(COLOUR, by) for by in ('state', 'zone', 'VCPU')]
        print(f'Map of {len(CELLS) * HOSTS} hosts after {times} ms, coloured in {tasks} ms')
        self.assertLess(min(tasks[:2]), MOST_TASK_MS)
        legend = browser.run("return document.querySelector('#map .legend').innerText")
        self.assertIn('2,500 disabled', legend)
        self.assertEqual([], browser.violations())
        browser.resize(*PHONE)
        self.assertLessEqual(browser.run('return document.documentElement.scrollWidth'), PHONE[0])
        self.assertEqual([], browser.console())
