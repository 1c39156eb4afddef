"""Drivers have every method of the protocol, with its parameters."""

import inspect

import testtools

from nova_lite.virt import driver
from nova_lite.virt.sim import driver as sim


class ProtocolTests(testtools.TestCase):
    def test_the_simulated_driver(self):
        methods = {
            name: method
            for name, method in vars(driver.Driver).items()
            if inspect.isfunction(method) and not name.startswith('_')
        }
        for name, method in methods.items():
            made = inspect.signature(getattr(sim.SimDriver, name)).parameters
            for parameter in inspect.signature(method).parameters.values():
                found = made[parameter.name]
                self.assertEqual(
                    (parameter.kind, parameter.default), (found.kind, found.default), name
                )
