"""The files of the drills: their variables, faults, breakpoints and commands exist."""

import contextlib
import io
import string

import testtools

from nova_lite.cmd import main
from nova_lite.lab.control import request_faults
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import page
from nova_lite.moves import kinds
from nova_lite.virt.sim import profile

CONTROL = {
    'bus',
    'breakpoints/add',
    'breakpoints/remove',
    'cell',
    'clock',
    'faults/add',
    'faults/clear',
    'host',
    'saga/go',
    'saga/kill-here',
}


def variables(value):
    """Return the variables in the texts of a value."""
    if isinstance(value, str):
        return set(string.Template(value).get_identifiers())
    each = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(variables, each))


class CatalogueTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.drills = [drills.read(name) for name in drills.names()]

    def steps(self, action):
        """Yield (name of a drill, arguments) of each step with an action."""
        for drill in self.drills:
            yield from ((drill.name, step.given) for step in drill.steps if step.action == action)

    def test_variables_are_set_before(self):
        for drill in self.drills:
            known = {*drill.hosts, *drill.hosts.values()}
            for step in drill.steps:
                made = set(step.given.get('servers', ())) | set(step.given.get('keep', ()))
                self.assertEqual(set(), known & made, (drill.name, step.text))
                self.assertEqual(set(), variables(step.given) - known, (drill.name, step.text))
                known |= made
                self.assertEqual(set(), variables(step.text) - known, (drill.name, step.text))

    def test_exams(self):
        """Their texts and signals use what the steps before them have set."""
        for drill in self.drills:
            known = {*drill.hosts, *drill.hosts.values()}
            for step in drill.steps:
                known |= set(step.given.get('servers', ())) | set(step.given.get('keep', ()))
                if step.text == drill.exam.after:
                    break
            self.assertEqual(set(), variables(drill.exam.symptom) - known, drill.name)
            self.assertEqual(set(), variables(drill.exam.task) - known, drill.name)
            for steps in (drill.exam.solution, drill.exam.solved):
                there = set(known)
                for step in steps:
                    there |= {*step.given.get('servers', ()), *step.given.get('keep', ())}
                    self.assertEqual(set(), variables(step.given) - there, (drill.name, step.text))

    def test_each_looks_and_changes(self):
        for drill in self.drills:
            signals = [step.is_signal for step in drill.steps]
            self.assertEqual({True, False}, set(signals), drill.name)

    def test_control_requests(self):
        for name, given in self.steps('control'):
            self.assertIn(given['name'], CONTROL, name)
            arguments = given['arguments']
            if given['name'] == 'faults/add' and request_faults.SERVICE in arguments:
                request_faults.parse(1, dict(arguments))
            elif given['name'] == 'faults/add':
                profile.parse_failure(arguments, name)
            elif given['name'] == 'breakpoints/add':
                self.assertIn(arguments['step'], kinds.steps(arguments['kind']), name)

    def test_commands(self):
        for name, given in self.steps('command'):
            words = [each.replace('$', '') for each in given['words']]
            with contextlib.redirect_stderr(io.StringIO()) as errors:
                try:
                    main.parser(words[:1]).parse_args([*words, '--state-dir', 'x'])
                except SystemExit:
                    self.fail(f'{name}: {errors.getvalue()}')

    def test_commands_that_end_have_begun(self):
        for drill in self.drills:
            begun = set()
            for step in drill.steps:
                begun.add(step.given.get('background'))
                if step.action == 'ended':
                    self.assertIn(step.given['command'], begun, drill.name)

    def test_pages(self):
        for drill in self.drills:
            self.assertIn(drill.purpose, page.section(drill))
            for made in (page.section(drill), page.text(drill)):
                self.assertIn(drill.cluster, made)
                self.assertNotIn('$', made)


class ParseTest(testtools.TestCase):
    TEXT = """
title: a title
purpose: >
  Of two
  lines.
hosts: {one: here, two: here, three: there}
seconds: 5
look_at: [the log]
steps:
  - text: Boot $guest
    boot: {servers: [guest], host: $one}
  - text: There is no other
    signal: {get: /servers, at: 'servers.#', is: 1}
  - text: Delete $guest
    request: {method: DELETE, path: /servers/$guest}
verify: consistent
exam:
  after: Boot $guest
  symptom: See
  task: Do
  solved: [{text: Seen, signal: {get: /servers, status: 200}}]
"""

    def test_values(self):
        drill = drills.parse('a', self.TEXT)
        self.assertEqual('See', drill.exam.symptom)
        self.assertEqual('Of two lines.', drill.purpose)
        self.assertEqual('2 cells with 2 hosts and 1 host without servers', drill.cluster)
        self.assertEqual([False, True, False], [step.is_signal for step in drill.steps])
        self.assertEqual(drill.steps[1:], drill.exam.solution)
        self.assertEqual(['guest'], drill.servers)

    def test_refused(self):
        for old, new in (
            ('title: a title', 'titel: a title'),
            ('seconds: 5', 'seconds: 5\nseconds: 6'),
            ('seconds: 5', 'seconds: 0'),
            ('verify: consistent', 'verify: inconsistent'),
            ('boot: {servers: [guest]', 'bot: {servers: [guest]'),
            ('boot: {servers: [guest]', 'request: {}\n    boot: {servers: [guest]'),
            ('servers: [guest]', 'servers: []'),
            ("at: 'servers.#', is: 1", "at: 'servers.#'"),
            ("at: 'servers.#', is: 1", "at: 'servers.#', is: 1, is_not: 2"),
            ("at: 'servers.#', is: 1", 'is: 1'),
            ('after: Boot $guest', 'after: No step'),
            ('after: Boot $guest', 'after: Delete $guest'),
            ('exam:', 'exams:'),
        ):
            text = self.TEXT.replace(old, new)
            self.assertNotEqual(self.TEXT, text)
            error = self.assertRaises(drills.WrongDrill, drills.parse, 'a', text)
            self.assertIn('Scenario a: ', str(error))

    def test_unknown(self):
        error = self.assertRaises(drills.NoSuchDrill, drills.read, 'neutron-slo')
        self.assertIn("Did you mean 'neutron-slow'?", str(error))
