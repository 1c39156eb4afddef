"""Every interface states since when each method exists, and the releases know it."""

import importlib
import inspect
import pkgutil

import testtools

from nova_lite import objects
from nova_lite import rpc
from nova_lite import versions
from nova_lite.objects import base
from nova_lite.rpc import methods as package
from nova_lite.rpc.methods import compute


def interfaces():
    """Every declared interface."""
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f'nova_lite.rpc.methods.{module.name}')
        found.extend(
            value
            for value in vars(loaded).values()
            if inspect.isclass(value)
            and issubclass(value, rpc.Interface)
            and value.__module__ == loaded.__name__
        )
    return found


class VersionsTest(testtools.TestCase):
    def test_there_are_four(self):
        topics = {interface.topic for interface in interfaces()}
        self.assertEqual({'super-conductor', 'scheduler', 'conductor', 'compute'}, topics)

    def test_no_method_is_newer_than_its_interface(self):
        for interface in interfaces():
            for name, method in interface.methods.items():
                self.assertThat(
                    versions.pair(method.rpc_since),
                    testtools.matchers.Not(
                        testtools.matchers.GreaterThan(versions.pair(interface.version))
                    ),
                    f'{interface.topic}.{name}',
                )

    def test_an_interface_is_as_new_as_its_newest_method(self):
        for interface in interfaces():
            newest = max(
                versions.pair(version)
                for method in interface.methods.values()
                for version in (method.rpc_since, *method.rpc_added.values())
            )
            self.assertEqual(newest, versions.pair(interface.version), interface.topic)

    def test_what_was_added_later_may_be_left_out(self):
        for interface in interfaces():
            for name, method in interface.methods.items():
                found = inspect.signature(method).parameters
                for argument in method.rpc_added:
                    self.assertIsNot(found[argument].empty, found[argument].default, name)

    def test_the_newest_release_speaks_these_versions(self):
        newest = list(versions.RELEASES)[-1]
        self.assertEqual(
            {interface.topic: interface.version for interface in interfaces()},
            versions.RELEASES[newest]['rpc'],
        )

    def test_the_newest_release_has_these_objects(self):
        objects.register_all()
        newest = versions.RELEASES[list(versions.RELEASES)[-1]]
        ours = {
            name: classes[0].VERSION
            for name, classes in base.Registry.obj_classes().items()
            if classes[0].__module__.startswith('nova_lite.')
        }
        self.assertEqual(ours, newest['objects'])

    def test_every_method_says_what_it_does(self):
        for interface in interfaces():
            for name, method in interface.methods.items():
                self.assertTrue(inspect.getdoc(method), f'{interface.topic}.{name}')

    def test_a_host_is_an_argument_of_what_is_sent_to_one(self):
        for name, method in compute.ComputeAPI.methods.items():
            self.assertIn('host', inspect.signature(method).parameters, name)
