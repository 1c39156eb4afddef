"""The dialogue of an exam: JSON documents in lines, also when the input is none."""

import io
import json

import fixtures
import testtools

from nova_lite.lab.scenarios import exams
from tests.fixtures import commands


class DialogueTest(testtools.TestCase):
    def hand_over(self, given):
        """Return whether the task is to be judged, and what was printed. given: the input"""
        printed = io.StringIO()
        stdin = io.TextIOWrapper(io.BytesIO(given), encoding='utf-8')
        with fixtures.MonkeyPatch('sys.stdin', stdin), fixtures.MonkeyPatch('sys.stdout', printed):
            is_done = exams.Exam().hand_over('It hurts', 'Mend it', None)
        return is_done, [json.loads(line) for line in printed.getvalue().splitlines()]

    def test_answers(self):
        for given, is_done in (
            (b'{"done": true}\n', True),
            (b'{"done": false}\n', False),
            (b'{"done": true}', True),
            (b'{"done": true}\n{"done": false}\n', True),
            (b'{"done": false}\n{"done": true}\n', False),
            (b'', False),
        ):
            judged, lines = self.hand_over(given)
            self.assertIs(is_done, judged, given)
            expected = [{'symptom': 'It hurts', 'task': 'Mend it', 'then': exams.ANSWER}]
            self.assertEqual(expected, lines, given)

    def test_what_is_no_answer(self):
        """Each line of it is answered with an error, and the exam goes on."""
        wrong = (
            *(b'nonsense', b'', b'{"done": tru', b'\xff\xfe', b'[' * 100_000, b'true', b'[]'),
            *(b'{"done": 1}', b'{"done": 0}', b'{"done": null}', b'{"done": "true"}'),
            *(b'{"action": "give up"}', b'{"done": true, "action": "judge"}'),
        )
        for given in wrong:
            judged, lines = self.hand_over(given + b'\n{"done": true}\n')
            self.assertTrue(judged, given[:20])
            self.assertEqual([{'error': f'The answer must be {exams.ANSWER}'}], lines[1:])


class RefusedTest(testtools.TestCase):
    def test_without_a_cloud(self):
        directory = self.useFixture(fixtures.TempDir()).path
        argv = ('scenario', 'run', 'neutron-slow', '--exam', '--state-dir', directory)
        code, out, _errors = commands.run(*argv)
        self.assertEqual(2, code)
        told = json.loads(out)
        self.assertEqual(('neutron-slow', 'could not begin'), (told['scenario'], told['result']))
        self.assertIn('it does not run', told['error'])
