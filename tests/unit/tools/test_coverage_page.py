"""The numbers of the coverage, and that the README has them."""

import pathlib
import re

import testtools

from nova_lite.api import microversion
from tools.proof import nova
from tools.proof import page

TEXT = """
nova: 34.0.0
outside_registry: []
not_offered:
- reason: There is no Manila.
  operations: ['GET /servers/{server_id}/shares', 'POST /os-baremetal-nodes/{id}/action (x)']
added: []
unproven:
- reason: No client has a command.
  operations: ['POST /servers']
operations:
  /servers:
    GET: 2.1-
    POST: 2.1-
  /servers/{id}:
    GET: 2.1-
  /servers/{server_id}/shares:
    GET: 2.97-
  /os-baremetal-nodes/{id}/action:
    POST x: 2.1-2.35
  /os-fping:
    GET: gone
"""
TOP = pathlib.Path(__file__).parents[3]


def versions(*texts):
    return [microversion.parse(each) for each in texts]


class PageTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = {
            'GET /servers': {'Tempest': versions('2.1', '2.2', '2.60')},
            'GET /servers/{server_id}': {'Tempest': versions('2.1'), 'Rally': versions('2.2')},
            'GET /os-fping': {'Tempest': versions('2.1')},
        }
        self.rows = page.rows(nova.load(TEXT), found)

    def test_counts(self):
        self.assertEqual(
            {page.NEWEST: (4, 3, 2), page.ENDED: (1, 0, 0), page.GONE: (1, 1, 1)},
            page.counts(self.rows),
        )
        self.assertEqual({'Tempest': 3, 'Rally': 1}, page.by_client(self.rows))

    def test_sentences(self):
        self.assertEqual(
            'nova_lite offers 3 of the 5 operations of Nova 34 at the same microversions, and unmodified '
            'clients have used 2 of them with success in the tests.',
            page.offer(self.rows),
        )
        self.assertEqual(
            '2 operations of Nova 34 are not offered: those of ``shares``, ``os-baremetal-nodes``.',
            page.limits(self.rows),
        )

    def test_limits_of_what_is_complete(self):
        rows = [row for row in self.rows if row.is_offered]
        self.assertEqual('All operations of Nova 34 are offered.', page.limits(rows))

    def test_details(self):
        text = page.details(self.rows)
        self.assertIn('- Tempest 2.1–2.2, 2.60\n', text)
        self.assertIn('- Rally 2.2; Tempest 2.1\n', text)
        self.assertIn('- **not offered**: There is no Manila.\n', text)
        self.assertIn('- not proven: No client has a command.\n', text)

    def test_summary(self):
        text = page.summary(self.rows)
        both = re.search(r'\*\*Both\*\*\n     - (\d)\n     - (\d)\n', text)
        kinds = re.findall(r'- Operations that (?:exist|end) .*\n     - (\d)\n     - (\d)\n', text)
        self.assertEqual(
            [sum(map(int, each)) for each in zip(*kinds, strict=True)], [*map(int, both.groups())]
        )
        self.assertIn('   * - **All**\n     - 6\n     - 4\n     - 3\n', text)
        self.assertIn('   * - Tempest\n     - 3\n', text)

    def test_what_is_not_proven_has_a_reason(self):
        offered = [row for row in page.rows() if row.is_offered and row.kind != page.GONE]
        unproven = {str(row.operation) for row in offered if not row.clients}
        self.assertEqual(unproven, nova.load().unproven.keys())


class ReadmeTest(testtools.TestCase):
    def test_numbers(self):
        text = ' '.join((TOP / 'README.rst').read_text().split())
        found = page.rows()
        self.assertIn(page.offer(found), text)
        self.assertIn(page.limits(found), text)
