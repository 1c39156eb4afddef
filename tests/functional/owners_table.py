"""Tables of what owners do to the objects of servers at each step of each saga.

Steps and kinds come from the code. The owner acts before a step, after it, and before its undo.
Then the saga ends, `verify` finds nothing, and the server can be rebooted, moved and deleted.
A sample is run; `tox -e faults` runs all cases.
"""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.fixtures import sharing
from tests.functional import own_cloud
from tools import sample

Mode = saga_faults.Mode
# How many scenarios one stands for, where not all are run.
SAMPLED = 9
# How a server that waits for its user becomes ACTIVE: {status: (action, status code)}.
CONTINUE = {
    'VERIFY_RESIZE': ('confirmResize', 204),
    'SHELVED': ('unshelve', 202),
    'SHELVED_OFFLOADED': ('unshelve', 202),
    'SHUTOFF': ('os-start', 202),
}


def cases(kind, arguments):
    """Return [(step, mode, the step that fails or None), ...] of a kind of saga."""
    steps = saga_faults.steps_of(kind, arguments)
    last = saga_faults.last_fatal(steps)
    found = []
    for index, step in enumerate(steps):
        found += [(step.id, mode, None) for mode in (Mode.DURING_BEFORE, Mode.DURING_AFTER)]
        if index < last and step.undo is not None:
            found.append((step.id, Mode.UNDO_DURING, steps[last].id))
    return found


class OwnersCase(testtools.TestCase):
    """One way of one kind of saga. settings: of the cloud; change: an owners.Change

    Within a cell; shelved servers stay on their hosts until they are asked to leave.
    """

    settings = own_cloud.FOUR_HOSTS
    change = None
    cases = staticmethod(cases)

    def setUp(self):
        super().setUp()
        # In how many cases the owner found what to change.
        self.changed = 0
        self.start()

    def start(self):
        """Start a new cloud, in which nothing has gone wrong."""
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def run_scenario(self, name):
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        found = saga_faults.sample(self.cases(kind, scenario.arguments), scenarios.number_of(name))
        wrong = []
        for case in found:
            text = ': '.join(filter(None, case))
            if saga_faults.ALONE and not saga_faults.is_wanted(text):
                continue
            outcome = self.attempt(kind, scenario, case)
            print(f'{name:34} {text:60} {outcome}')
            if outcome not in ('done', 'undone'):
                wrong.append((text, outcome))
                self.start()
        self.assertEqual([], wrong, sample.replay())
        if saga_faults.ALL and self.change is not None:
            self.assertNotEqual(0, self.changed, 'The owner had nothing to change in any case.')

    def attempt(self, *case):
        """Return what run_case does, or the error that it raises."""
        try:
            return self.run_case(*case)
        except saga_faults.WRONG as error:
            # The cases after it are run all the same.
            return f'{type(error).__name__}: {error}'

    def run_case(self, kind, scenario, case):
        """Return 'done', 'undone', or what was wrong afterwards."""
        boot = self.change.boot or scenario.boot
        server = boot(self.stage, **self.change.options(self.stage))
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        fault = saga_faults.Fault(kind, *case, meanwhile=lambda: self._act(server))
        self.faults.fault = fault
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        self.faults.fault = None
        if not fault.met:
            return 'the step was not reached'
        self.settle(scenario, server, outcome)
        wrong = not self.change.at_reboot and self._findings(scenario)
        wrong = wrong or self.use(scenario, server, outcome)
        return f'{outcome}, and {wrong}' if wrong else outcome

    def settle(self, scenario, server, outcome):
        """Wait until the server is as its saga has left it."""
        self.cloud.wait_status(server, scenario.done if outcome == 'done' else scenario.undone)

    def _findings(self, scenario):
        """Findings while hosts are down, then once they are back and follow the records."""
        found = self.cloud.findings()
        if not found:
            scenario.recover(self.stage)
            found = self.cloud.findings()
        return found

    def _act(self, server):
        if self.change.act(self.stage, server):
            self.changed += 1

    def use(self, scenario, server, outcome):
        """Use a server after it: ask again, reboot, move and delete it. Return findings."""
        self.change.mend(self.stage, server)
        if self.change.is_final and outcome == 'undone':
            if scenario.undone == 'SHELVED_OFFLOADED':
                return self.delete(server)
        elif outcome == 'undone':
            scenario.prepare(self.stage, server)
            self.stage.wait_idle(server)
            scenario.ask(self.stage, server)
            self.cloud.wait_status(server, scenario.done)
        self.stage.wait_idle(server)
        scenario.recover(self.stage)
        self._continue(server)
        self.stage.act(server, 'reboot', {'type': 'HARD'})
        self.cloud.wait_status(server, 'ACTIVE')
        self.stage.act(server, 'migrate')
        self.cloud.wait_status(server, 'VERIFY_RESIZE')
        self._continue(server)
        return self.cloud.findings() or self.delete(server)

    def delete(self, server):
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)
        return self.cloud.findings()

    def _continue(self, server):
        """Continue until the server is ACTIVE, without shares, with which it cannot move."""
        status = self.cloud.admin.compute.get_server(server.id).status
        if status == 'SHUTOFF':
            hands = sharing.Sharing(self.cloud)
            for share_id in hands.statuses(server):
                hands.detach(server, share_id)
        if status in CONTINUE:
            action, code = CONTINUE[status]
            self.stage.act(server, action, status=code)
        self.cloud.wait_status(server, 'ACTIVE')
        self.stage.wait_idle(server)


# Settings of clouds in which servers rather leave their cell than stay.
CROSSING = {
    'cells': 2,
    'hosts': 2,
    'options': {'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0}},
}


def classes(
    module, prefix, change=None, *, base=OwnersCase, names=tuple(scenarios.SCENARIOS), every=SAMPLED
):
    """Return {name: a class of tests of a scenario} for a module.

    prefix: of the names; change: an owners.Change; base: of the classes
    names: of scenarios; every: how many of them one stands for. Half of these run with a commit
    """
    chosen = saga_faults.sample(names, every=every)
    return {
        case.__name__: case
        for case in (
            _class_of(module, prefix, name, base=base, change=change)
            for name in sample.turn(chosen, 2, first=len(prefix))
        )
    }


def _class_of(module, prefix, name, *, base, change):
    def test_owners(self):
        self.run_scenario(name)

    title = f'{prefix}{name.title().replace("-", "")}Test'
    settings = CROSSING if name.startswith('cross-cell') else base.settings
    members = {'test_owners': test_owners, 'change': change, 'settings': settings}
    return type(title, (base,), {**members, '__module__': module})
