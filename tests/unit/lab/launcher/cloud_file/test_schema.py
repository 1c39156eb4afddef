"""The JSON Schema of files that describe clouds, and where it is published."""

import json

import jsonschema
import testtools

from nova_lite.api import quota_names
from nova_lite.lab.launcher.cloud_file import api
from nova_lite.lab.launcher.cloud_file import quota_limits
from nova_lite.lab.launcher.cloud_file import schema
from nova_lite.simcloud.network import quotas as network_quotas
from nova_lite.simcloud.volume import quotas as volume_quotas
from tests.fixtures import commands
from tests.fixtures import units

PUBLISHED = units.ROOT / 'doc' / 'source' / 'reference' / 'cloud-file.schema.json'


class SchemaTest(testtools.TestCase):
    def test_it_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(schema.SCHEMA)

    def test_a_command_prints_it(self):
        code, out, _errors = commands.run('up', '--print-schema')
        self.assertEqual((0, schema.SCHEMA), (code, json.loads(out)))

    def test_it_is_published(self):
        """`nova-lite up --print-schema` writes the file anew."""
        self.assertEqual(schema.text() + '\n', PUBLISHED.read_text())

    def test_quotas(self):
        """Each service has these limits."""
        of_services = {
            'compute': set(quota_names.of_sets(int(api.MICROVERSION.split('.')[1]))),
            'network': set(network_quotas.DEFAULTS),
            'volume': set(volume_quotas.BUILTIN),
        }
        self.assertEqual(
            of_services, {name: set(each) for name, each in quota_limits.NAMES.items()}
        )

    def test_each_key_is_explained(self):
        for name, part in schema.PROPERTIES.items():
            self.assertIn('description', part, name)
        self.assertLessEqual(set(schema.OBJECTS), set(schema.PROPERTIES))
