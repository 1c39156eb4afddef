"""The map of all hosts of the live page."""

import json

import testtools

from nova_lite.lab.page import document
from nova_lite.lab.page import host_map
from tests.unit.lab.page import readings

MANY = 10_000


class TestHostMap(testtools.TestCase):
    def make(self, cells, off=(), **values):
        return host_map.make(document.hosts(readings.whole(cells, **values), off))

    def test_hosts_by_zone_and_number(self):
        here = readings.here('host10', 'host9', 'host1')
        made = self.make([(readings.cell('cell1'), here)], zones={'host1': 'west'})
        [cell] = made['cells']
        self.assertEqual(['host9', 'host10', 'host1'], cell['names'])
        self.assertEqual((['nova', 'west'], [0, 0, 1]), (made['zones'], cell['zones']))

    def test_names_of_all_kinds(self):
        names = ['7', 'a', '1a', 'a1', '', 'é', '²']
        [cell] = self.make([(readings.cell('cell1'), readings.here(*names))])['cells']
        self.assertEqual(set(names), set(cell['names']))

    def test_states(self):
        here = readings.here(
            '1-up', '2-down', '3-off', '4-disabled', up=['1-up', '3-off', '4-disabled']
        )
        here.computes[3].disabled = True
        lost = readings.cell('cell2'), readings.here('lost')
        made = self.make(
            [(readings.cell('cell1'), here), lost], ['3-off'], stale={'cell2': readings.AT}
        )
        self.assertEqual(['udos', 'n'], [cell['states'] for cell in made['cells']])

    def test_loads(self):
        loads = {'a': {'VCPU': (0, 8)}, 'b': {'VCPU': (4, 8)}, 'c': {'VCPU': (20, 8)}}
        [cell] = self.make([(readings.cell('cell1'), readings.here('a', 'b', 'c'))], loads=loads)[
            'cells'
        ]
        self.assertEqual(('0iz', '000'), (cell['loads']['VCPU'], cell['loads']['DISK_GB']))

    def test_many_hosts_take_few_bytes(self):
        names = [f'cell1-host{number}' for number in range(MANY)]
        made = self.make([(readings.cell('cell1'), readings.here(*names))])
        self.assertLess(len(json.dumps(made)), 30 * MANY)
