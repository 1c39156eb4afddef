"""All drills of `nova-lite scenario`, each on a cloud that others have left."""

from nova_lite.lab.scenarios import drill as drills
from tests.functional import test_scenarios


class AllScenariosTest(test_scenarios.ScenarioTestCase):
    pass


def _test_of(name):
    def test(self):
        self.check(name)

    return test


for _name in drills.names():
    setattr(AllScenariosTest, f'test_{_name.replace("-", "_")}', _test_of(_name))
