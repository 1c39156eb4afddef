"""An administrator resets the state of a server at each step of each saga.

Then the saga goes on. Afterwards a server that is on a host has its guest there, and `verify`
finds nothing but what the administrator has said himself: that a server is ACTIVE that is off, or
on no host. If hosts fail after the reset, a server may be in
ERROR without a guest. A sample is run; `tox -e faults` runs all cases.
"""

import itertools

import fixtures

from nova_lite.saga import journal
from nova_lite.virt import model
from nova_lite.virt.sim import census
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import saga_faults
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
Mode = saga_faults.Mode
# How many scenarios one stands for, where not all are run.
SAMPLED = 9
# Deeds by name: the state that is set, and the action that follows with its content.
DEEDS = {
    'active': ('active', None),
    'error': ('error', None),
    'stop': ('active', ('os-stop', None)),
    # It would create the guest of a host that the server leaves.
    'hard reboot': ('active', ('reboot', {'type': 'HARD'})),
}
# Another deed: after the reset each verb of the hosts fails, but those that destroy and detach:
# some of their steps are repeated until they succeed.
FAILS = 'active, then hosts fail'
FAILING = '[!d]*'
END_OF_OFFLOAD = 'record-end-of-offload'
# The next audit of a host clears a task that was begun on the host which the server left then.
AUDITED_S = 150
IDLE = ('ACTIVE', 'SHUTOFF', 'ERROR', 'SHELVED', 'SHELVED_OFFLOADED', 'VERIFY_RESIZE')


def cases(kind, arguments):
    """Return [(step, mode, deed), ...] of a kind of saga."""
    steps = saga_faults.steps_of(kind, arguments)
    modes = (Mode.DURING_BEFORE, Mode.DURING_AFTER)
    found = [(step.id, mode, deed) for step, mode, deed in itertools.product(steps, modes, DEEDS)]
    return found + [(step.id, Mode.DURING_BEFORE, FAILS) for step in steps]


class ResetCase(owners_table.OwnersCase):
    """One way of one kind of saga."""

    cases = staticmethod(cases)

    def setUp(self):
        super().setUp()
        # A hard reboot waits for this time while the saga waits for the deed.
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lifecycle.intents.END_TIMEOUT_S', 0.1))

    def run_case(self, kind, scenario, case):
        step, mode, deed = case
        server = scenario.boot(self.stage)
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        fault = saga_faults.Fault(kind, step, mode, meanwhile=lambda: self.reset(server, deed))
        self.faults.fault = fault
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        self.faults.fault = None
        self.cloud.cloud.faults.clear()
        if outcome == journal.CLEANING and deed == FAILS:
            outcome = self.cloud.wait_for(
                lambda: self.cleaned(server), 'the saga to clean up', cloud_fixture.CLEANED_S
            )
        if not fault.met:
            return 'the step was not reached'
        self.stage.wait_idle(server)
        scenario.recover(self.stage)
        is_late = mode is Mode.DURING_AFTER and step == END_OF_OFFLOAD
        wrong = self.guest_of(server, deed, is_late) or (deed != FAILS and self.findings(server))
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)
        # What hosts that fail leave is for the tables of faults.
        wrong = wrong or (deed != FAILS and self.cloud.findings())
        return f'{outcome}, and {wrong}' if wrong else outcome

    def cleaned(self, server):
        """Return the state of the server's newest saga, or None while it cleans up."""
        found = self.faults.ended(server).state
        return None if found == journal.CLEANING else found

    def findings(self, server):
        """Findings, but for what contradicts the state that the administrator has set."""
        power = f'power of server {server.id}'
        if self.cloud.admin.compute.get_server(server.id).compute_host is None:
            return []
        return [each for each in self.cloud.findings(AUDITED_S) if each.what != power]

    def reset(self, server, deed):
        state, action = DEEDS.get(deed, ('active', None))
        if deed == FAILS:
            self.cloud.cloud.faults.add({'verb': FAILING})
        self.stage.act(server, 'os-resetState', {'state': state})
        if action is not None:
            self.stage.send(server, *action)

    def guest_of(self, server, deed, is_late):
        """Return what is wrong with the guest of a server that is on a host.

        is_late: whether the server had left its host for good when its state was reset
        """
        shown = self.cloud.admin.compute.get_server(server.id)
        if shown.status not in IDLE:
            return f'the server is {shown.status}'
        if deed == FAILS and shown.status == 'ERROR':
            return None
        if shown.compute_host is None:
            # No request but a deletion helps a server that is ACTIVE there. As in nova, the
            # state of a server at rest is what the administrator says.
            is_lost = shown.status == 'ACTIVE' and not is_late
            return 'the server is ACTIVE on no host' if is_lost else None
        places = self.cloud.cloud.places
        paths = [places.guests_path(cell) for cell in places.cell_names]
        guests = [guest for path in paths for guest in census.guests(path)]
        if (server.id, shown.compute_host) not in {
            (guest.uuid, guest.node) for guest in guests if guest.role is model.Role.RESIDENT
        }:
            return f'{shown.status} on {shown.compute_host} without a guest'
        return None


globals().update(owners_table.classes(__name__, 'Reset', base=ResetCase, every=SAMPLED))
