"""Names of projects that `nova-lite twin fit` gets."""

import testtools

from nova_lite.lab.twin import known_names
from nova_lite.lab.twin import names

DOMAINS = [{'id': 'default', 'name': 'Default'}, {'id': 'd2', 'name': 'other'}]
PROJECTS = [
    {'id': '1', 'name': 'web', 'domain_id': 'default'},
    {'id': '2', 'name': 'web', 'domain_id': 'd2'},
    {'id': '3', 'name': 'shop', 'domain_id': 'd2'},
    # The name of one project is the id of another.
    {'id': '4', 'name': '3', 'domain_id': 'd2'},
    {'id': '5', 'name': names.hidden('project', 'real-id'), 'domain_id': 'default'},
]


class ProjectsTest(testtools.TestCase):
    def find(self, name, domain=None):
        return known_names.find_project(PROJECTS, DOMAINS, name, domain)

    def test_names_and_ids(self):
        for words, wanted in (
            (('shop',), '3'),
            (('3',), '3'),
            (('3', 'other'), '3'),
            (('web', 'Default'), '1'),
            (('web', 'd2'), '2'),
            (('2',), '2'),
            # The id in the cloud from which the twin was imported.
            (('real-id',), '5'),
        ):
            self.assertEqual(wanted, self.find(*words))

    def test_ambiguous(self):
        error = self.assertRaises(known_names.Ambiguous, self.find, 'web')
        self.assertIn('1 in domain Default, 2 in domain other. Use an id, or', str(error))

    def test_unknown(self):
        for words, text in (
            (('x',), 'no project x. It has: 3, project-'),
            (('shop', 'Default'), 'no project shop. It has: project-'),
            (('web', 'x'), 'no domain x. It has: Default, other'),
        ):
            error = self.assertRaises(known_names.UnknownName, self.find, *words)
            self.assertIn(text, str(error))
