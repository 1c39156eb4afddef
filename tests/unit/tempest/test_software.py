"""Expected results of other people's programs, their versions, and where these are pinned."""

import json
import pathlib
import re

import testtools

from tests.clients import expected
from tests.software import __main__ as command
from tests.software import programs

TOP = pathlib.Path(__file__).parents[3]
PINNED = re.compile(r'^([\w-]+)==([\w.]+)', re.MULTILINE)


class SoftwareTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.expected = expected.load((TOP / command.PATH).read_text())

    def test_each_program_has_cases_and_results(self):
        self.assertEqual(list(programs.PROGRAMS), list(self.expected))
        for program in programs.PROGRAMS.values():
            self.assertTrue(program.script.exists(), program)

    def test_versions(self):
        for program in programs.PROGRAMS.values():
            pinned = {
                programs.PYPI: self._of_pypi,
                programs.NPM: self._of_npm,
                # Debian's release decides.
                programs.DEBIAN: lambda program: self.expected[program.name].version,
            }[program.registry](program)
            self.assertEqual(self.expected[program.name].version, pinned, program)

    @staticmethod
    def _of_pypi(program):
        text = (programs.PACKAGES / f'{program.name}-requirements.txt').read_text()
        return dict(PINNED.findall(text))[program.package]

    @staticmethod
    def _of_npm(program):
        content = json.loads((programs.PACKAGES / 'package.json').read_text())
        return content['dependencies'][program.package]

    def test_unknown_programs_are_refused(self):
        self.assertRaises(SystemExit, command.main, ['nothing'])
