"""Arguments that commands refuse before they ask a cloud: the message says how to write them."""

import testtools

from tests.fixtures import commands


class ArgumentsTest(testtools.TestCase):
    def refusal(self, *argv):
        """The error of a command, without how it is used."""
        code, _out, errors = commands.run(*argv, '--state-dir', '/nowhere')
        self.assertEqual(2, code, errors)
        return ' '.join(errors.split())

    def test_names_of_states(self):
        for argv in (('reset', '../x'), ('reset', '--save', '')):
            self.assertIn(
                f'{argv[-1]!r} is not a name of up to 64 letters, digits', self.refusal(*argv)
            )

    def test_requests(self):
        fault = ('fault', 'add', '--service', 'placement', '--status', '503', '--request')
        for given in ('foo', 'put /x', 'GET /x?y=1'):
            self.assertIn("such as 'PUT /allocations*'", self.refusal(*fault, given))
        for given in ('*', 'GET *', '* /v3/*', 'PUT /allocations*'):
            self.assertIn('it does not run', self.refusal(*fault, given))

    def test_metadata(self):
        fault = ('fault', 'add', '--verb', 'spawn', '--metadata')
        for given in ('key', '=value'):
            self.assertIn(f'must be KEY=PATTERN, not {given}', self.refusal(*fault, given))
        self.assertIn('it does not run', self.refusal(*fault, 'key=*'))
