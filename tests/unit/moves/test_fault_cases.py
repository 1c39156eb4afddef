"""Faults that sagas meet together: each case once, and none beside another."""

import testtools

from tests.fixtures import fault_cases
from tests.fixtures import scenarios


def cases_of(name):
    kind, scenario = scenarios.kind_of(name), scenarios.SCENARIOS[name]
    return list(fault_cases.cases(kind, scenario.arguments))


class TogetherTest(testtools.TestCase):
    def test_each_case_once(self):
        for name in scenarios.SCENARIOS:
            found = cases_of(name)
            for number in range(3):
                runs = fault_cases.together(found, number)
                self.assertEqual(sorted(found), sorted(case for run in runs for case in run), name)

    def test_less_than_half_as_many_sagas_as_cases(self):
        found = {name: cases_of(name) for name in scenarios.SCENARIOS}
        runs = [fault_cases.together(several, 0) for several in found.values()]
        self.assertGreater(sum(map(len, found.values())), 2 * sum(map(len, runs)))

    def test_steps_without_a_fault_lie_between(self):
        for name in scenarios.SCENARIOS:
            for run in fault_cases.together(cases_of(name), 1):
                places = [case.index for case in run]
                between = [
                    after - before for before, after in zip(places, places[1:], strict=False)
                ]
                self.assertEqual([], [each for each in between if each < fault_cases.APART], name)

    def test_one_outcome(self):
        for name in scenarios.SCENARIOS:
            for run in fault_cases.together(cases_of(name), 0):
                self.assertEqual(1, len({(case.expected, case.last) for case in run}), name)

    def test_what_undoes_is_alone(self):
        for run in fault_cases.together(cases_of('resize'), 0):
            if any(case.expected == 'undone' and case.last is None for case in run):
                self.assertEqual(1, len(run))

    def test_numbers_put_others_together(self):
        found = cases_of('resize')
        runs = [fault_cases.together(found, number) for number in (0, 1)]
        self.assertNotEqual(*runs)
