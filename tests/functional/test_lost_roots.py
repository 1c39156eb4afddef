"""Administrators take the root disk of a server from it at each step of each saga.

A root disk that no other server has is attached again, and the saga goes on. Otherwise the saga
ends, a hard reboot is refused or ends with a fault, and the server can be deleted.
"""

from tests.fixtures import owners
from tests.fixtures import scenarios
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
EVERY = 18
# A server that boots from a volume has no image to be shelved with, and is rebuilt otherwise.
OF_IMAGES = ('rebuild', 'shelve', 'shelve-offload', 'unshelve-in-place')
NAMES = tuple(name for name in scenarios.SCENARIOS if name not in OF_IMAGES)


class DetachedCase(owners_table.OwnersCase):
    """The disk is attached again: a saga that no failure undoes is done."""

    def run_case(self, kind, scenario, case):
        outcome = super().run_case(kind, scenario, case)
        _step, _mode, fails = case
        return 'undone without a failure' if outcome == 'undone' and not fails else outcome


class LostCase(owners_table.OwnersCase):
    """The volume is another server's, or was deleted."""

    def settle(self, scenario, server, outcome):
        self.stage.wait_idle(server)

    def use(self, scenario, server, outcome):
        scenario.recover(self.stage)
        self._reboot(server)
        self.change.mend(self.stage, server)
        return self.delete(server)

    def _reboot(self, server):
        """Reboot a server that does not wait for its user."""
        show = self.cloud.admin.compute.get_server
        if show(server.id).status in ('ACTIVE', 'SHUTOFF', 'ERROR'):
            self.stage.send(server, 'reboot', {'type': 'HARD'})
            self.cloud.wait_for(lambda: show(server.id).task_state is None, 'the reboot to end')


globals().update(
    owners_table.classes(
        __name__,
        'DetachedRoot',
        owners.DETACHED_ROOT,
        base=DetachedCase,
        names=NAMES,
        every=EVERY,
    )
    | owners_table.classes(
        __name__, 'GivenRoot', owners.GIVEN_ROOT, base=LostCase, names=NAMES, every=EVERY
    )
    | owners_table.classes(
        __name__, 'DeletedRoot', owners.DELETED_ROOT, base=LostCase, names=NAMES, every=EVERY
    )
)
