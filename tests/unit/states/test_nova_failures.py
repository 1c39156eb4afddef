"""The table of failures that nova leaves: its rows fit the sagas and each other."""

import string

import testtools

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.moves import kinds
from nova_lite.states import nova_failures
from nova_lite.verify import invariants

Mode = nova_failures.Mode
PLACES = {'server', 'migration', 'host'}


class TableTest(testtools.TestCase):
    def test_names_are_unique(self):
        names = [failure.name for failure in nova_failures.FAILURES]
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_kinds_and_steps_exist(self):
        for failure in nova_failures.FAILURES:
            for kind in failure.kinds:
                known = kinds.steps(kind)
                for step in (*failure.steps, *failure.keeps):
                    self.assertIn(step, known, f'{failure.name}, {kind}')

    def test_errors_exist(self):
        known = {name for name in vars(exception) if isinstance(getattr(exception, name), type)}
        for failure in nova_failures.FAILURES:
            self.assertEqual(set(), {*failure.errors, *failure.other_than} - known, failure.name)

    def test_steps_after_the_pivot_may_be_given_up(self):
        for failure in nova_failures.FAILURES:
            for kind in failure.kinds:
                for plan in kinds.plans(kind):
                    self.check_plan(failure, plan)

    def check_plan(self, failure, plan):
        pivots = [index for index, step in enumerate(plan) if step.pivot]
        for index, step in enumerate(plan):
            if step.id in failure.steps and pivots and index > pivots[0]:
                self.assertTrue(step.best_effort, f'{failure.name}: {step.id}')
                self.assertEqual((), failure.keeps)

    def test_commands_name_what_is_known(self):
        for failure in nova_failures.FAILURES:
            self.assertTrue(failure.repair, failure.name)
            for command in failure.repair:
                fields = {name for _, name, _, _ in string.Formatter().parse(command) if name}
                self.assertEqual(set(), fields - PLACES, command)

    def test_invariants_exist(self):
        known = {check.__doc__.split(':')[0] for check in invariants.every()}
        for failure in nova_failures.FAILURES:
            self.assertEqual(set(), {left.invariant for left in failure.left} - known)


class ModeTest(testtools.TestCase):
    def test_modes_and_metadata(self):
        for mode, asked, wanted in (
            (Mode.UNDO, None, False),
            (Mode.UNDO, 'nova', False),
            (Mode.NOVA, None, True),
            (Mode.NOVA, 'undo', False),
            (Mode.NOVA, 'nova', True),
            (Mode.METADATA, None, False),
            (Mode.METADATA, 'nova', True),
            (Mode.METADATA, 'undo', False),
        ):
            metadata = {} if asked is None else {nova_failures.METADATA_KEY: asked}
            self.assertEqual(wanted, nova_failures.applies(mode, metadata), (mode, asked))

    def test_the_option(self):
        conf = conf_module.make_conf(files=[])
        self.assertEqual(Mode.UNDO, conf.conductor.failures)
        for mode in Mode:
            conf.set_override('failures', str(mode), group='conductor')
        self.assertRaises(ValueError, conf.set_override, 'failures', 'heat', group='conductor')
