"""The driver that the configuration names."""

import os

import fixtures
import testtools

from nova_lite import conf
from nova_lite.virt import drivers
from nova_lite.virt.sim import driver as sim
from tests.fixtures import packages

MODULE = """
from nova_lite.virt.sim import driver


class OtherDriver(driver.SimDriver):
    pass


def make(conf, hosts):
    return OtherDriver(f'{conf.state_path}/other.sqlite', hosts)
"""
ENTRY_POINTS = """
[nova_lite.compute.drivers]
other = other_package:make
missing = other_package:nothing
"""


class TestDrivers(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = conf.make_conf([], files=[])
        self.conf.set_override('state_path', self.useFixture(fixtures.TempDir()).path)
        self.useFixture(packages.OtherPackage(MODULE, ENTRY_POINTS))

    def load(self):
        driver = drivers.load(self.conf, ['host-1'])
        self.addCleanup(driver.close)
        return driver

    def name(self, value):
        self.conf.set_override('driver', value, group='compute')

    def test_simulated_unless_configured(self):
        driver = self.load()
        self.assertIs(sim.SimDriver, type(driver))
        self.assertEqual(['host-1'], driver.list_nodes())
        self.assertEqual('default', driver.profile.source)
        self.conf.set_override('profile', 'instant', group='compute')
        driver.reload(self.conf)
        self.assertEqual('instant', driver.profile.source)

    def test_of_another_package(self):
        self.name('other')
        driver = self.load()
        self.assertEqual('OtherDriver', type(driver).__name__)
        self.assertEqual(['host-1'], driver.list_nodes())
        self.assertTrue(os.path.exists(f'{self.conf.state_path}/other.sqlite'))

    def test_unknown_names_what_is_offered(self):
        self.name('bare')
        error = self.assertRaises(ValueError, self.load)
        self.assertIn('unknown bare; known are sim, missing, other', str(error))

    def test_that_cannot_be_loaded(self):
        self.name('missing')
        error = self.assertRaises(ValueError, self.load)
        self.assertIn('other_package:nothing cannot be loaded', str(error))
