"""Sagas by single steps: where they are stopped, `verify` explains what it finds.

Kinds and steps come from the code. One scenario is run, with each commit another; `tox -e
faults` runs them all.
"""

from nova_lite.saga import breakpoints
from nova_lite.verify import settling
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import test_saga_faults
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
OPEN = ('running', 'parked')
CROSSING = [name for name in scenarios.SCENARIOS if name.startswith('cross-cell')]


class StopsCase(test_saga_faults.FaultsCase):
    def run_scenario(self, name):
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        server = scenario.boot(self.stage)
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        first, *_others = saga_faults.steps_of(kind, scenario.arguments)
        debugger = self.cloud.cloud.debugger
        debugger.add(first.id, server=server.id, kind=kind)
        scenario.ask(self.stage, server)
        places, wrong = [], []
        while (saga := self.resting(debugger, server, kind))['state'] == breakpoints.STOPPED:
            places.append(saga['before'])
            verdict = self.cloud._verdict(0, cloud_fixture.AT_REST)
            if verdict.result != settling.Result.CONSISTENT:
                wrong.append((saga['before'], verdict.findings, verdict.unsettled))
            debugger.go_on(server.id, breakpoints.STEP)
        self.assertEqual(([], 'done'), (wrong, saga['state']), sample.replay())
        self.assertLess(1, len(places))
        self.cloud.wait(server, scenario.done)
        self.assertEqual([], self.cloud.findings())

    def resting(self, debugger, server, kind):
        """The saga of the server once it is stopped or has ended."""

        def look():
            saga = debugger.show_saga(server.id)
            return saga if saga['kind'] == kind and saga['state'] not in OPEN else None

        return self.cloud.wait_for(look, f'{kind} to rest')


class CrossingCase(StopsCase, test_saga_faults.CrossingCase):
    """The settings of one, and the rest of the other."""


def _class_of(name):
    """A test of a scenario."""
    base = CrossingCase if name in CROSSING else StopsCase

    def test_stops(self):
        self.run_scenario(name)

    title = f'{name.title().replace("-", "")}StopsTest'
    return type(title, (base,), {'test_stops': test_stops, '__module__': __name__})


_NAMES = list(scenarios.SCENARIOS)
_CHOSEN = saga_faults.sample(_NAMES, every=len(_NAMES))
globals().update((case.__name__, case) for case in map(_class_of, _CHOSEN))
