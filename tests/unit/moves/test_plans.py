"""The plans of all kinds of sagas are those that a golden file names, by version."""

import json
import pathlib
import types

import testtools

from nova_lite.moves import devices
from nova_lite.moves import kinds
from nova_lite.saga import journal
from nova_lite.saga import step
from tests.fixtures import saga_faults
from tests.fixtures import scenarios

GOLDEN = pathlib.Path(__file__).with_name('plans.json')
CHANGED = (
    'The steps of a kind of saga have changed. A saga that the release before has begun is run '
    'by its own steps: raise `version` of the new class and keep the former one in kinds.SAGAS '
    'until none is under way. Then write the file again: python -m tests.unit.moves.test_plans'
)


def plans():
    """{'kind@version': {scenario: names of steps}} of the code."""
    found = {}
    for name, scenario in scenarios.SCENARIOS.items():
        made = kinds.KINDS[scenarios.kind_of(name)]
        steps = _steps(scenario, made)
        ways = found.setdefault(f'{made.kind}@{made.version}', {})
        ways[name] = steps
        rebooted = _steps(scenario, made, **{devices.REBOOTED: True})
        if len(rebooted) > len(steps):
            ways[f'{name}, beside a reboot'] = rebooted
    return found


def _steps(scenario, kind, **data):
    steps = saga_faults.steps_of(kind, scenario.arguments, **data)
    return [step.name for step in steps]


class TestPlans(testtools.TestCase):
    def test_are_those_of_the_file(self):
        self.assertEqual(json.loads(GOLDEN.read_text()), plans(), CHANGED)

    def test_name_each_step_once(self):
        for kind, ways in plans().items():
            for steps in ways.values():
                self.assertEqual(sorted({*steps}), sorted(steps), kind)

    def test_all_kinds_have_one(self):
        self.assertEqual({*kinds.KINDS}, {name.partition('@')[0] for name in plans()})


class TestVersions(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.former = kinds.KINDS['resize']
        self.assertEqual(kinds.FIRST, self.former.version)

        class Newest(self.former):
            version = 2

        self.newest = Newest
        self.patch(kinds, 'SAGAS', (*kinds.SAGAS, Newest))
        self.patch(kinds, 'KINDS', {**kinds.KINDS, 'resize': Newest})

    def of(self, kind='resize', *, version=None, position=0):
        data = {} if version is None else {step.PLAN: {'version': version, 'steps': []}}
        return kinds.of(types.SimpleNamespace(kind=kind, data=data, position=position))

    def test_what_has_begun_nothing_is_of_the_newest(self):
        self.assertIs(self.newest, self.of())

    def test_what_has_begun_stays_what_it_was(self):
        self.assertIs(self.newest, self.of(version=2))
        self.assertIs(self.former, self.of(version=1))

    def test_what_was_begun_before_plans_were_kept(self):
        self.assertIs(self.former, self.of(position=3))

    def test_unknown(self):
        self.assertRaises(journal.UnknownPlan, self.of, version=99)
        self.assertRaises(journal.UnknownPlan, self.of, 'teleport')


if __name__ == '__main__':
    GOLDEN.write_text(json.dumps(plans(), indent=1, sort_keys=True) + '\n')
