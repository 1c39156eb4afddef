"""The page about lost casts has a row for each, with a test that exists."""

import importlib
import pathlib
import re

import testtools

from nova_lite.rpc.methods import compute
from nova_lite.rpc.methods import conductor
from nova_lite.rpc.methods import scheduler
from nova_lite.rpc.methods import super_conductor

TOP = pathlib.Path(__file__).parents[4]
PAGE = TOP / 'doc' / 'source' / 'contributor' / 'lost-messages.rst'
INTERFACES = {
    'compute': compute.ComputeAPI,
    'conductor': conductor.ConductorAPI,
    'scheduler': scheduler.SchedulerAPI,
    'super-conductor': super_conductor.SuperConductorAPI,
}
ROW = re.compile(r'^   \* - (.*?)(?=^   \* - |\Z|^\S)', re.DOTALL | re.MULTILINE)
NAME = re.compile(r'``([a-z-]+\.[a-z_]+)``')
TEST = re.compile(r'``(tests\.[\w.]+)``')


def rows():
    """[([cast, ...], [test, ...]), ...] of the table on the page."""
    found = [(NAME.findall(row), TEST.findall(row)) for row in ROW.findall(PAGE.read_text())]
    return [(casts, tests) for casts, tests in found if casts]


class LostCastsTest(testtools.TestCase):
    def test_each_cast_has_a_row(self):
        casts = {
            f'{topic}.{name}'
            for topic, interface in INTERFACES.items()
            for name, declared in interface.methods.items()
            if declared.rpc_kind == 'cast'
        }
        self.assertEqual(sorted(casts), sorted(name for names, _tests in rows() for name in names))

    def test_each_row_has_tests_that_exist(self):
        for casts, tests in rows():
            self.assertNotEqual([], tests, casts)
            for test in tests:
                module, _, name = test.rpartition('.')
                module, _, case = module.rpartition('.')
                found = getattr(getattr(importlib.import_module(module), case), name)
                self.assertTrue(callable(found), test)
