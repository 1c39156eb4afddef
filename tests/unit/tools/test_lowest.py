"""Libraries that are tried at their lowest versions, and the tests that try them."""

import importlib

import testtools

from tests.unit.private_apis import test_private_apis
from tools import lowest


class LowestTest(testtools.TestCase):
    def test_all_requirements_have_a_pin(self):
        text = (lowest.TOP / 'lowest-constraints.txt').read_text()
        found = lowest.pins(text)
        self.assertEqual(len(lowest.names()), len(found), found)

    def test_libraries_of_private_apis_are_tried(self):
        for library in test_private_apis.libraries():
            self.assertIn(library.name.replace('.', '-').lower(), lowest.names())

    def test_pins(self):
        text = (
            '# oslo.config==1\noslo-config==10.0.0\nkombu==5.5.3 ; python_version > "3"\ntox==1\n'
        )
        wanted = ['oslo-config==10.0.0', 'kombu==5.5.3 ; python_version > "3"']
        self.assertEqual(wanted, lowest.pins(text))

    def test_tests_exist(self):
        """Renamed tests are not forgotten."""
        self.assertIn('tests.unit.saga.test_engine', lowest.modules())
        for name in lowest.CLOUD_TESTS:
            module, case, method = name.rsplit('.', 2)
            self.assertTrue(
                callable(getattr(getattr(importlib.import_module(module), case), method))
            )
