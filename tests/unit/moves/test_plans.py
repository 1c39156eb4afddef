"""The plans of all kinds of sagas are those that a golden file names, by version."""

import json
import pathlib
import re
import types

import testtools

from nova_lite.moves import kinds
from nova_lite.saga import journal
from nova_lite.saga import step
from tests.fixtures import saga_faults
from tests.fixtures import scenarios

ID = re.compile('[a-z]+(-[a-z]+)*')
GOLDEN = pathlib.Path(__file__).with_name('plans.json')
CHANGED = (
    'The steps of a kind of saga have changed. If steps have only come: a saga that was begun '
    'without them ends without them. Otherwise it is run by its own steps: raise `version` of the '
    'class, add the former one to `former_versions`, and make `steps` of the version of the saga, or '
    'keep a former class in kinds.SAGAS, until none is under way. Then write the file again: '
    'python -m tests.unit.moves.test_plans'
)


def plans():
    """{'kind@version': [ids of the steps, for each way that its sagas may go]} of the code."""
    return {
        f'{kind}@{version}': [
            [step.id for step in plan] for plan in kinds.plans(kind, saga, version)
        ]
        for saga in kinds.SAGAS
        for version in kinds.versions(saga)
        for kind in saga.kinds()
    }


class TestPlans(testtools.TestCase):
    def test_are_those_of_the_file(self):
        self.assertEqual(json.loads(GOLDEN.read_text()), plans(), CHANGED)

    def test_name_each_step_once(self):
        for kind, ways in plans().items():
            for steps in ways:
                self.assertEqual(sorted({*steps}), sorted(steps), kind)

    def test_ids_are_words_with_hyphens(self):
        found = {step for ways in plans().values() for steps in ways for step in steps}
        self.assertEqual(set(), {each for each in found if not ID.fullmatch(each)})

    def test_steps_that_kinds_declare_are_in_a_plan(self):
        for saga_class in kinds.SAGAS:
            known = {name for kind in saga_class.kinds() for name in kinds.steps(kind)}
            declared = {*saga_class.refusable, *saga_class.harmless}
            self.assertEqual(set(), declared - known, saga_class)

    def test_scenarios_go_ways_that_are_known(self):
        """The arguments of real requests give no other plan."""
        for name, scenario in scenarios.SCENARIOS.items():
            made = kinds.KINDS[scenarios.kind_of(name)]
            kind = scenarios.kind_of(name)
            steps = [step.id for step in saga_faults.steps_of(kind, scenario.arguments)]
            self.assertIn(steps, plans()[f'{kind}@{made.version}'], name)


class TestAddedSteps(testtools.TestCase):
    """Sagas that began before a step was added, in their module or in a part, go without it."""

    def longer(self, kind, way, place):
        """A saga of a release whose plan has a further step at a place."""

        class Longer(kinds.KINDS[kind]):
            def steps(self):
                found = super().steps()
                return (*found[:place], step.Step('added', None), *found[place:])

        return kinds.specimen(kind, way, Longer)

    def test_every_kind_and_place(self):
        for kind, made in kinds.KINDS.items():
            for way in made.ways:
                former = kinds.specimen(kind, way)
                plan = former.plan(former.planned())
                for place in range(1, len(plan['steps']) + 1):
                    longer = self.longer(kind, way, place)
                    self.assertEqual('added', longer.steps()[place].id)
                    longer.keep(plan)
                    found = [each.id for each in longer.planned()]
                    self.assertEqual(plan['steps'], found, f'{kind} {way} {place}')


class TestVersions(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.former = kinds.KINDS['evacuation']
        self.assertEqual(1, self.former.version)

        class Newest(self.former):
            version = 2

        self.newest = Newest
        self.patch(kinds, 'SAGAS', (*kinds.SAGAS, Newest))
        self.patch(kinds, 'KINDS', {**kinds.KINDS, 'evacuation': Newest})

    def of(self, kind='evacuation', *, version=None):
        data = {} if version is None else {step.PLAN: {'version': version, 'steps': []}}
        return kinds.of(types.SimpleNamespace(kind=kind, data=data))

    def test_what_has_begun_nothing_is_of_the_newest(self):
        self.assertIs(self.newest, self.of())

    def test_what_has_begun_stays_what_it_was(self):
        self.assertIs(self.newest, self.of(version=2))
        self.assertIs(self.former, self.of(version=1))

    def test_a_class_runs_plans_of_former_versions(self):
        found = self.of('resize', version=1)
        self.assertIs(kinds.KINDS['resize'], found)
        self.assertEqual((1, 2), kinds.versions(found))

    def test_unknown(self):
        self.assertRaises(journal.UnknownPlan, self.of, version=99)
        self.assertRaises(journal.UnknownPlan, self.of, 'teleport')


if __name__ == '__main__':
    GOLDEN.write_text(json.dumps(plans(), indent=1, sort_keys=True) + '\n')
