"""Damage that faults may have done, which audits have to repair, or which may be left."""

import re

from tests.sim.world import faults
from tests.sim.world import losses

UUID = re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# Seconds after the end of a fault in which its victims may still do something by halves.
AFTERMATH_S = 30
# Faults that only delay or repeat something for less time than it is waited for.
HARMLESS = ('slow', 'twice')
# Faults in which no daemon forgets what it was about to do.
REMEMBERED = (*HARMLESS, 'clock', 'power off', losses.FATE, faults.KEPT)
CREATE = 'create'


class Damage:
    """faults: a world.faults.Faults; calls: [workload.caller.Call, ...] that change something"""

    def __init__(self, faults, calls):
        self._faults, self._calls = faults, calls

    def may_leave(self):
        """Return whether something may be left that was made for a server."""
        return any(not fault.fate.startswith(REMEMBERED) for fault in self._faults.injected)

    def may_need(self, repair, moment):
        """Return whether a fault may be why something was repaired at a virtual time.

        repair: what was logged. If it names a server that clients know, the fault was between
            its creation and the repair, and met more than requests for other servers
        """
        uuids = UUID.findall(repair)
        own = [call for call in self._calls if any(uuid in _named(call) for uuid in uuids)]
        if not own:
            return any(True for _ in self._harmful())
        creates = [call for call in own if call.what == CREATE]
        # Of several servers that are created at once the answer names one.
        own += creates or [call for call in self._calls if call.what == CREATE]
        began = min(call.began for call in own)
        others = {call.request_id for call in self._calls} - {call.request_id for call in own}
        return any(
            fault.overlaps(began, moment, AFTERMATH_S)
            and not (fault.requests and others.issuperset(fault.requests))
            for fault in self._harmful()
        )

    def _harmful(self):
        return (fault for fault in self._faults.injected if fault.fate not in HARMLESS)


def _named(call):
    """Return a text that names the server of a request."""
    return f'{call.url} {call.answer.get("server", {}).get("id", "")}'
