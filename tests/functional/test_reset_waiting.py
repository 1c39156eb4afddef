"""An administrator resets the state of a server whose resize waits for its user.

The server stays on the destination with its new flavor, the resize is confirmed, and the source
keeps nothing. Every action that the new state allows follows at once, and does its work. A sample
is run; `tox -e faults` runs all cases.
"""

import contextlib
import itertools

import testscenarios

from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.functional import base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_scenarios
SOURCE, NEAR, FAR = 'cell1-host1', 'cell1-host2', 'cell2-host1'
OPTIONS = {
    'DEFAULT': {'allow_resize_to_same_host': True, 'shelved_offload_time': -1},
    'compute': {'stray_grace': 0},
    'quota': {'cores': -1, 'ram': -1, 'instances': 20},
}
# How many actions one stands for, where not all follow.
SAMPLED = 5
# By when the audit of a host that was forced down has removed the guest that it kept.
AUDITED_S = 150
RETURN = 'return of the source'
# The moves that wait, by their names: how each is asked for.
WAITING = {
    'resize': lambda test: test.resize_avoiding(FAR, SOURCE),
    'resize on its host': lambda test: test.resize_avoiding(FAR, NEAR),
    'migrate': lambda test: test.migrate(NEAR),
    'migrate to another cell': lambda test: test.migrate(FAR),
}
# What follows, by name, and the states after which it may: each ends with the server at rest.
FOLLOWING = {
    'nothing': (lambda test: None, ('active', 'error')),
    # The source had failed before the reset.
    RETURN: (lambda test: test.moving.come_back(SOURCE), ('active', 'error')),
    'confirm': (lambda test: test.act('confirmResize', status=409), ('active', 'error')),
    'revert': (lambda test: test.act('revertResize', status=409), ('active', 'error')),
    'delete': (lambda test: test.delete(test.server), ('active', 'error')),
    'soft delete': (lambda test: test.soft_delete(test.server), ('active', 'error')),
    'stop': (lambda test: test.done('os-stop', 'SHUTOFF'), ('active', 'error')),
    'hard reboot': (
        lambda test: test.done('reboot', 'ACTIVE', {'type': 'HARD'}),
        ('active', 'error'),
    ),
    'rebuild': (lambda test: test.rebuild(), ('active', 'error')),
    'evacuate': (lambda test: test.evacuate(), ('active', 'error')),
    'back to the source': (lambda test: test.back('confirmResize'), ('active',)),
    'back, then revert': (lambda test: test.back('revertResize'), ('active',)),
    'live migrate': (lambda test: test.live_migrate(), ('active',)),
    'shelve': (lambda test: test.shelve(), ('active',)),
}


class ResetWaitingTest(testscenarios.WithScenarios, base.CloudTest):
    """waiting: name of the move; state: that the administrator sets; number: of the scenario"""

    settings = {'cells': 2, 'hosts': 2, 'options': OPTIONS}
    scenarios = sample.turn(
        [
            (f'{waiting} {state}', {'waiting': waiting, 'state': state, 'number': number})
            for number, (waiting, state) in enumerate(
                itertools.product(WAITING, ('active', 'error'))
            )
        ],
        4,
    )

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.moving = live_moving.LiveMoving(cls.cloud)

    def test_reset(self):
        for name in saga_faults.sample(self.allowed(), self.number, every=SAMPLED):
            with self.noted(f'after the reset: {name}'):
                self.wait()
                if name == RETURN:
                    self.moving.fail(SOURCE)
                self.reset()
                FOLLOWING[name][0](self)
                self.check()

    def allowed(self):
        return [name for name, (_follow, states) in FOLLOWING.items() if self.state in states]

    @contextlib.contextmanager
    def noted(self, note):
        """Add a note to any error that the block raises."""
        try:
            yield
        except Exception as error:
            error.add_note(note)
            raise

    def wait(self):
        """Boot a server with a port and a volume, and let its move wait."""
        self.server = self.moving.boot_full(availability_zone=f'nova:{SOURCE}')
        WAITING[self.waiting](self)
        found = self.cloud.wait(self.server, 'VERIFY_RESIZE')
        self.moving.wait_idle(self.server)
        self.here, self.flavor = found.compute_host, found.flavor.name
        self.move = self.moving.migration(self.server)['uuid']

    def reset(self):
        self.act('os-resetState', {'state': self.state})
        self.assertEqual(self.state.upper(), self.status(self.server))

    def check(self):
        """The move is confirmed, and nothing is left of it; delete the server."""
        self.moving.wait_idle(self.server)
        statuses = {each['uuid']: each['status'] for each in self.moving.migrations(self.server)}
        self.assertEqual('confirmed', statuses[self.move])
        self.assertEqual({}, self.moving.allocations(self.move))
        self.assertEqual([], self.cloud.findings(AUDITED_S))
        if found := self.cloud.admin.compute.find_server(self.server.id):
            self.assertEqual(self.flavor, found.flavor.name)
            self.delete(found)
            # The audit may have yet to remove what the source kept.
            self.assertEqual([], self.cloud.findings(AUDITED_S))

    # ---- what is asked for ----

    def act(self, action, content=None, **options):
        self.moving.act(self.server, action, content, **options)

    def done(self, action, status, content=None):
        self.act(action, content)
        found = self.cloud.wait(self.server, status)
        self.assertEqual(self.here, found.compute_host)

    def migrate(self, host):
        self.act('migrate', {'host': host})

    def resize_avoiding(self, *cells_and_hosts):
        """Resize; the scheduler may choose none of these hosts, nor the other host of cell2."""
        with contextlib.ExitStack() as stack:
            for host in (*cells_and_hosts, 'cell2-host2'):
                stack.enter_context(self.moving.disabled(host))
            self.moving.resize(self.server, 'm1.small')
            self.cloud.wait(self.server, 'VERIFY_RESIZE')

    def rebuild(self):
        self.act('rebuild', {'imageRef': self.moving.other_image(self.server)})
        self.assertEqual(self.here, self.cloud.wait(self.server).compute_host)

    def live_migrate(self):
        self.moving.go(self.server)
        self.assertNotEqual(self.here, self.cloud.wait(self.server).compute_host)

    def back(self, end):
        """Migrate to the former source, or to another host, and end that move."""
        there = NEAR if self.here == SOURCE else SOURCE
        self.migrate(there)
        self.cloud.wait(self.server, 'VERIFY_RESIZE')
        self.act(end, status=204 if end == 'confirmResize' else 202)
        wanted = there if end == 'confirmResize' else self.here
        self.assertEqual(wanted, self.cloud.wait(self.server).compute_host)

    def another(self):
        return {SOURCE: NEAR, NEAR: SOURCE, FAR: 'cell2-host2'}[self.here]

    def shelve(self):
        self.act('shelve')
        self.cloud.wait(self.server, 'SHELVED')
        self.moving.wait_idle(self.server)
        self.act('shelveOffload')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(self.server)
        # Back to the former source, if that is in the same cell.
        self.act('unshelve', {'host': self.another()})
        self.cloud.wait(self.server)

    def evacuate(self):
        self.moving.fail(self.here)
        self.act('evacuate', {}, status=200, version='2.94')
        self.assertNotEqual(self.here, self.cloud.wait(self.server).compute_host)
        self.moving.wait_idle(self.server)
        self.moving.come_back(self.here)
