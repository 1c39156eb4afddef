"""States of servers as a history (I9): each recorded change is one of `transitions.TRANSITIONS`.

A state is (vm_state, task_state), as words. The product refuses other writes itself; this
sees those that go past it, and live migrations that end as completed and leave a server in ERROR.
"""

from nova_lite.states import transitions

# A hidden copy, of a server in another cell, is replaced when the server moves there.
RECORDED = """
    SELECT uuid, launched_on, vm_state, task_state FROM instances WHERE NOT deleted AND NOT hidden
"""
COMPLETED = """
    SELECT migrations.uuid, instances.uuid, instances.vm_state FROM migrations
    JOIN instances ON instances.uuid = migrations.instance_uuid
    WHERE migrations.migration_type = 'live-migration' AND migrations.status = 'completed'
    AND NOT instances.deleted AND NOT instances.hidden
"""
# An offload that has destroyed the guest says so, whatever the state was reset to meanwhile.
OFFLOADED = ('shelved_offloaded', None)
# The task that a reset leaves: a deletion that a host has begun goes on.
DELETING = 'deleting'
# A build goes on after a reset, and may fail.
FAILED = ('error', None)


class States:
    """A rule for a watching.Watch of the databases of the cells.

    resets: returns the vm states to which administrators may have reset a server's state
    left: whether failures stay as in nova, which leave servers in ERROR
    """

    def __init__(self, resets=lambda _uuid: (), *, left=False):
        self._seen, self._resets, self._left = {}, resets, left

    def __call__(self, cells):
        """Compare with what was there at the last commit; return what is wrong, or None."""
        seen, wrong = {}, None
        for name, connection in cells.items():
            for uuid, launched_on, *state in connection.execute(RECORDED):
                key, state = (name, uuid), tuple(state)
                seen[key] = state
                before = self._seen.get(key, state)
                if before == state or transitions.is_allowed(before, state):
                    continue
                if self._left and state == FAILED:
                    continue
                if not self._is_of_reset(uuid, state, built=launched_on is not None):
                    wrong = f'{uuid} in {name} went from {_text(before)} to {_text(state)}'
        self._seen = seen
        return wrong

    def _is_of_reset(self, uuid, state, *, built):
        """Return whether a reset explains a change: it, or the end of what it met."""
        resets = [(each, task) for each in self._resets(uuid) for task in (None, DELETING)]
        ended = state == OFFLOADED or (not built and state == FAILED)
        return state in resets or (bool(resets) and ended)


class Arrivals:
    """A rule: a live migration leaves its server in ERROR, or is completed, and not both.

    Asked at each commit, because the server may be deleted or rebooted later. resets: see States
    """

    def __init__(self, resets=lambda _uuid: ()):
        self._seen, self._resets = set(), resets

    def __call__(self, cells):
        """Look at the live migrations that were completed since the last commit."""
        for connection in cells.values():
            for migration, uuid, state in connection.execute(COMPLETED).fetchall():
                is_new = migration not in self._seen
                self._seen.add(migration)
                if is_new and state == 'error' and 'error' not in self._resets(uuid):
                    return f'live migration {migration} is completed, and {uuid} is in ERROR'
        return None


def _text(state):
    return ' and '.join(map(str, state))
