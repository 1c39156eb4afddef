"""Deletions of servers that are kept for a while, can be restored, and end by force or by time."""

from tests.sim.oracle import effects
from tests.sim.workload import codes

DELETE, FORCE, RESTORE = 'delete', 'force delete', 'restore'
# The statuses in which a server is kept that is to be deleted.
# Source: reference/nova/create-server 7.
KEPT = (
    'ACTIVE',
    'SHUTOFF',
    'PAUSED',
    'SUSPENDED',
    'RESCUE',
    'SHELVED',
    'SOFT_DELETED',
    'VERIFY_RESIZE',
)
# Tasks of servers that leave their hosts, or may do so soon: some are deleted for good.
LEAVING = ('shelving', 'shelving_image_uploading', 'shelving_offloading')


def is_kept(server):
    """Return whether a server, as it is shown, is kept when it is deleted."""
    return server['status'] in KEPT and server[effects.TASK] not in LEAVING


class Deletions:
    """kept_s: for how many seconds deleted servers are kept; 0: they are not"""

    def __init__(self, kept_s=0):
        self.kept_s = kept_s
        # {id of a server: [Call, ...]}, and whether a deletion is one that keeps it.
        self._calls, self._keeps = {}, {}

    def answered(self, uuid, call, *, keeps=False):
        """Note a request to delete or restore a server. keeps: whether it has to be kept then"""
        if self.kept_s and call.code not in codes.REFUSALS:
            self._calls.setdefault(uuid, []).append(call)
            self._keeps[call.request_id] = keeps

    def kept(self):
        """Return the ids of servers that may still be restored."""
        return [uuid for uuid, calls in self._calls.items() if calls[-1].what == DELETE]

    def must_be_kept(self, uuid, moment):
        """Return whether a server cannot be gone at a virtual time."""
        calls = self._calls.get(uuid, ())
        return (
            _are_sure(calls)
            and calls[-1].what == DELETE
            and self._keeps[calls[-1].request_id]
            and moment < calls[-1].began + self.kept_s
        )

    def may_interrupt(self, uuid, began, ended):
        """Return whether a deletion that keeps a server met work on it between virtual times."""
        # What is on record of actions has whole seconds.
        return any(
            call.what == DELETE and call.began <= ended + 1 and began <= call.ended
            for call in self._calls.get(uuid, ())
        )

    def states(self):
        """Yield (id, whether it has to be there) of the servers of which that is certain."""
        for uuid, calls in self._calls.items():
            if _are_sure(calls):
                yield uuid, calls[-1].what == RESTORE


def _are_sure(calls):
    """Return whether there are requests, all were answered, and each after the one before."""
    answered = calls and all(call.code in codes.DONE for call in calls)
    return answered and not any(
        one.ended >= other.began for one, other in zip(calls, calls[1:], strict=False)
    )
