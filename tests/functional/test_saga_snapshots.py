"""Snapshots in the middle of sagas: in the cloud that continues, each ends as it would have.

A snapshot is taken before a step is done, and in another saga whose last step that can fail does
so, before one is undone, in the thread of the saga. Kinds and steps come from the code. Two of
them are run, in each run others; `tox -e faults` runs them all.
"""

import os

import fixtures

from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import test_saga_faults
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
CROSSING = [name for name in scenarios.SCENARIOS if name.startswith('cross-cell')]
WITHIN = [name for name in scenarios.SCENARIOS if name not in CROSSING]


class SnapshotsCase(test_saga_faults.FaultsCase):
    def run_all(self, names):
        found = []
        for number, name in enumerate(names):
            kind, arguments = scenarios.kind_of(name), scenarios.SCENARIOS[name].arguments
            steps = saga_faults.steps_of(kind, arguments)
            found += self.run_snapshots(name, number, [step.id for step in steps])
            last = saga_faults.last_fatal(steps)
            undone = [step.id for step in steps[: last + 1] if step.undo is not None]
            if undone:
                found += self.run_snapshots(name, number, undone, fails=steps[last].id)
        wrong = [row for row in found if row[2] != row[3]]
        self.assertEqual([], wrong, sample.replay())

    def run_snapshots(self, name, number, names, *, fails=None):
        """[(scenario, step, how it ended, how it should), ...] of the number-th scenario.

        names: of steps, before which snapshots are taken; fails: the step that fails, if these
            are undone
        """
        self.start()
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        server = scenario.boot(self.stage)
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        expected = 'done' if fails is None else 'undone'
        directory = self.useFixture(fixtures.TempDir()).path
        paths = {
            step: os.path.join(directory, f'{names.index(step)}.snapshot')
            for step in saga_faults.sample(names, number, every=len(names))
        }

        def look(step):
            if step in paths:
                self.cloud.cloud.snapshot(paths[step])

        self.faults.fault = looks = saga_faults.Look(kind, look, fails)
        scenario.ask(self.stage, server)
        self.assertEqual(expected, self.faults.ended(server).state)
        self.faults.fault = None
        self.assertEqual([], looks.errors)
        return [
            (name, step, self.ended(scenario, server, path), expected)
            for step, path in paths.items()
        ]

    def ended(self, scenario, server, path):
        """Return how a saga ends in a cloud that continues with a snapshot."""
        self.cloud.continue_from(path)
        # Those of before look at the cloud that was stopped.
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        outcome = self.faults.ended(server).state
        self.cloud.wait_status(server, scenario.done if outcome == 'done' else scenario.undone)
        wrong = self.cloud.findings()
        return f'{outcome}, and {wrong}' if wrong else outcome


class CrossingCase(SnapshotsCase, test_saga_faults.CrossingCase):
    """The settings of one, and the rest of the other."""


def _class_of(title, base, names):
    """A test of these scenarios."""

    def test_snapshots(self):
        self.run_all(names)

    return type(title, (base,), {'test_snapshots': test_snapshots, '__module__': __name__})


def _classes():
    """Tests of a sample, or one of each scenario: classes are run beside each other."""
    for kind, base, names in (('', SnapshotsCase, WITHIN), ('Crossing', CrossingCase, CROSSING)):
        if saga_faults.ALL:
            for name in names:
                yield _class_of(f'{name.title().replace("-", "")}Test', base, [name])
        else:
            chosen = saga_faults.sample(names, every=len(names))
            yield _class_of(f'{kind}SnapshotsTest', base, chosen)


globals().update((case.__name__, case) for case in _classes())
