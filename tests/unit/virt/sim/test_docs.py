"""The profiles in the admin guide are profiles, and it names every verb."""

import pathlib
import re
import textwrap

import testtools

from nova_lite.virt.sim import profile
from nova_lite.virt.sim import usage

TOP = pathlib.Path(__file__).parents[4]
GUIDE = TOP / 'doc/source/admin/simulated-hosts.rst'


class GuideTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.text = GUIDE.read_text()

    def test_examples_load(self):
        blocks = re.findall(r'code-block:: yaml\n\n((?:    .*\n|\n)+)', self.text)
        self.assertEqual(10, len(blocks))
        for block in blocks:
            profile.parse(textwrap.dedent(block)).behaviour('cell2-host1')

    def test_example_of_the_readme_loads(self):
        blocks = re.findall(
            r'> faults.yaml <<EOF\n(.*?)\n *EOF', (TOP / 'README.rst').read_text(), re.S
        )
        self.assertEqual(1, len(blocks))
        rules = profile.parse(textwrap.dedent(blocks[0])).all_failures
        self.assertEqual([{'live_migrate'}], [set(rule.verbs) for rule in rules])

    def test_every_verb_and_setting_is_named(self):
        named = set(re.findall(r'``([a-z_]+)``', self.text)) | set(re.findall(r'(\w+):', self.text))
        self.assertEqual(set(), {*profile.VERBS, *profile.HOST_KEYS} - named)
        for key in profile.LIVE_MIGRATION:
            self.assertIn(f'{key}:', self.text)
        self.assertEqual(set(), {*usage.KEYS, *profile.GUEST_KEYS} - named)
