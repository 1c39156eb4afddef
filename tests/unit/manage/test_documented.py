"""The commands of the guides are commands of ours."""

import re

import testtools

from nova_lite.cmd import manage
from nova_lite.manage import command
from tests.fixtures import units

CALL = re.compile(
    r'(\S*manage)\s+(?:--\S+ \S+\s+)*(api_db|db|cell_v2|placement|image_property|limits|libvirt|'
    r'volume_attachment)\s+(\w+)'
)


class DocumentedTest(testtools.TestCase):
    def test_verbs(self):
        manage.parser()
        known = {(name, verb.name) for name, verbs in command.VERBS.items() for verb in verbs}
        found = 0
        source = units.ROOT / 'doc' / 'source'
        # Pages about nova name its own commands.
        about_nova = {
            source / 'howto' / 'audit-nova.rst',
            source / 'reference' / 'nova-invariants.rst',
            *(source / 'reference' / 'nova').glob('*.rst'),
        }
        for path in sorted({*source.rglob('*.rst')} - about_nova):
            for program, category, verb in CALL.findall(path.read_text()):
                found += 1
                self.assertTrue(program.endswith('nova-lite-manage'), f'{path.name}: {program}')
                self.assertIn((category, verb), known, path.name)
        self.assertGreater(found, 8)
