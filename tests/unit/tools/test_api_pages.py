"""The reference of the API: names as nova-requests.yaml has them, samples that are accepted."""

import testtools

from nova_lite.api import microversion
from tests.fixtures import request_samples
from tools.api_pages import operations
from tools.api_pages import request_fields

REQUESTS = request_samples.load()


def at(rows, minor):
    """The fields that have a row for a microversion, without the marks of lists."""
    version = microversion.Version(2, minor)
    return {
        row.name.replace('[]', '')
        for row in rows
        if row.first <= version <= (row.last or microversion.MAXIMUM)
    }


class ReferenceTest(testtools.TestCase):
    def test_bodies(self):
        for each in operations.shown():
            if each.body is not None:
                rows = request_fields.fields(each.body, each.since, each.until)
                known = REQUESTS.body(each).kind
                for minor in range(each.since.minor, each.until.minor + 1):
                    self.assertEqual(known.names(minor), at(rows, minor), f'{each} 2.{minor}')

    def test_queries(self):
        for each in operations.shown():
            rows = request_fields.parameters(each.query, each.since, each.until)
            known = REQUESTS.query(each)
            for minor in range(each.since.minor, each.until.minor + 1):
                self.assertEqual(set(known.names(minor)), at(rows, minor), f'{each} 2.{minor}')

    def test_samples_are_accepted(self):
        for each in operations.shown():
            for first in each.body.firsts() if each.body else ():
                compiled = each.body.at(first)
                compiled.check(request_fields.sample(compiled.source))

    def test_words(self):
        (create,) = [each for each in operations.shown() if str(each) == 'POST /servers']
        rows = request_fields.fields(create.body, create.since, create.until)
        found = [
            (row.words, row.required, str(row.first), row.last and str(row.last))
            for row in rows
            if row.name in ('server.hostname', 'server.networks', 'server.config_drive')
        ]
        self.assertEqual(
            [
                ('boolean', False, '2.1', None),
                ('text, 2 to 63 characters', False, '2.90', '2.93'),
                ('text, 1 to 255 characters', False, '2.94', None),
                ('list of object', False, '2.1', '2.36'),
                ('list of object, or ``none``, ``auto``', True, '2.37', None),
            ],
            found,
        )

    def test_page(self):
        text = operations.page({'GET /flavors 2.1': {'flavors': ['none here']}})
        self.assertIn('POST /servers/{server_id}/action (rebuild)', text)
        self.assertIn('"imageRef"', text)
        self.assertEqual(1, text.count(f'An answer of {microversion.MAXIMUM}:'))
        self.assertIn('"none here"', text)
        self.assertEqual(1, text.count('Unknown query parameters are refused from 2.58 on.'))
        self.assertNotIn('os-volumes_boot', text)
        self.assertEqual(len(operations.shown()), text.count('- Microversions: '))
