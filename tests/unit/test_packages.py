"""Each directory of the package is a package: setuptools warns of others as it builds a wheel."""

import testtools

from tests.fixtures import units


class PackagesTest(testtools.TestCase):
    def test_each_directory_has_an_init(self):
        files = (units.ROOT / 'nova_lite').rglob('*')
        found = {path.parent for path in files if path.is_file()}
        directories = {each for each in found if '__pycache__' not in each.parts}
        self.assertGreater(len(directories), 50)
        lacking = {each for each in directories if not (each / '__init__.py').is_file()}
        self.assertEqual(set(), lacking)
