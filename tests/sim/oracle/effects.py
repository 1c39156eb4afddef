"""Effects of acknowledged actions: each is on record, and the last shows its effect."""

from tests.sim.oracle import images
from tests.sim.oracle import outcomes
from tests.sim.workload import outside

TASK, POWER = 'OS-EXT-STS:task_state', 'OS-EXT-STS:power_state'
# The power states that belong to statuses.
POWERED = {'ACTIVE': 1, 'SHUTOFF': 4}
REST = tuple(POWERED)
# What a server may be after an action that did not fail, if it was the last one.
EFFECTS = {
    'start': ('ACTIVE',),
    'stop': ('SHUTOFF',),
    'reboot': ('ACTIVE',),
    'pause': ('PAUSED',),
    'unpause': ('ACTIVE',),
    'suspend': ('SUSPENDED',),
    'resume': ('ACTIVE',),
    'rescue': ('RESCUE',),
    'unrescue': ('ACTIVE',),
    'shelve': ('SHELVED', 'SHELVED_OFFLOADED'),
    'shelveOffload': ('SHELVED_OFFLOADED',),
    'unshelve': ('ACTIVE',),
    'resize': ('VERIFY_RESIZE',),
    'migrate': ('VERIFY_RESIZE',),
    'confirmResize': REST,
    'revertResize': REST,
    'live-migration': ('ACTIVE', 'PAUSED'),
    'evacuate': REST,
    'rebuild': REST,
    'restore': ('ACTIVE',),
}
# What may take a server to another host.
MOVES = frozenset(('migrate', 'resize', 'live-migration', 'evacuate', 'unshelve'))
# It takes effect on another action.
CANCEL = 'live_migration_cancel'
# After the second, a server is as it was before the first.
RESIZES, ENDS = ('resize', 'migrate'), ('confirmResize', 'revertResize')
# After these a server is as it was before.
KEEPING = ('live-migration', 'rebuild')


class Effects:
    """ledger: a workload.ledger.Ledger; caller: a workload.caller.Caller

    images: an images.Images
    """

    def __init__(self, ledger, caller):
        self._ledger, self._excuses = ledger, ledger.excuses
        self._outcomes = outcomes.Outcomes(caller, ledger.outside)
        self.images = images.Images(ledger, caller)

    def findings(self, server, actions):
        """Yield what was not done to a server. actions: on record, in any order"""
        recorded = {action['request_id']: action for action in actions}
        promised = self._ledger.promised.get(server['id'], {})
        for request_id, call in promised.items():
            if request_id not in recorded:
                yield f'accepted and not on record: {server["id"]} {call.what} {request_id}'
        deeds, before = self._sure(promised, recorded)
        if deeds and server['status'] != 'ERROR':
            if not self._excuses.of_unasked(server['id']):
                yield from _unlike(server, deeds, before)
            yield from self._outcomes.of_actions(server, deeds)
        if self._knows(recorded, promised, outcomes.DEVICES):
            yield from self._outcomes.of_devices(server, promised, recorded)
        yield from self.images.of_server(server, promised, recorded)
        yield from self._ledger.labels.findings(server)

    def _knows(self, recorded, promised, names):
        """Return whether clients know of all actions with such names whether they were accepted."""
        return all(
            request_id in promised or request_id in self._ledger.refused
            for request_id, action in recorded.items()
            if action['action'] in names
        )

    def _sure(self, promised, recorded):
        """Return the deeds that were certainly the last and did not fail, and what was before.

        Clocks leap, so that what is on record does not tell the order: clients do. Before the
        first deed the server was shown at rest, with the status that is returned, or None.
        """
        if not self._knows(recorded, promised, EFFECTS):
            return [], None
        calls = [
            call
            for request_id, call in promised.items()
            if recorded.get(request_id, {}).get('action') in (*EFFECTS, CANCEL)
            or call.what == outside.RESET
        ]
        calls.sort(key=lambda call: call.ended)
        sure, before = [], None
        while calls:
            call = calls.pop()
            if call.what == outside.RESET:
                break
            action = recorded[call.request_id]
            overtaken = any(other.ended >= call.began for other in calls)
            failed = action['message'] == outcomes.FAILED
            if overtaken or failed or action['action'] == CANCEL:
                break
            sure.insert(0, outcomes.Deed(action['action'], call))
            before = _shown_before(call, calls)
        return sure, before


def _shown_before(call, earlier):
    """Return the status in which a server was at rest before a call, None if that is unknown.

    earlier: the calls before it
    """
    if call.look is None or any(other.ended >= call.look.time for other in earlier):
        return None
    server = call.look.server
    # Of a server whose cell does not answer only a few fields are shown.
    at_rest = server['status'] in REST and server[TASK] is None
    return server['status'] if at_rest else None


def _unlike(server, deeds, before):
    """Yield what is not as it is after certain deeds. before: the status before them, or None"""
    told = f'{server["id"]} is {server["status"]}'
    if server['status'] not in _statuses(deeds, before):
        yield f'{told} after {deeds[-1].action}'
    elif deeds[-1].action in RESIZES:
        former = _statuses(deeds[:-1], before)
        if server[POWER] not in [POWERED.get(each) for each in former]:
            yield f'{told} with power state {server[POWER]}, and was {" or ".join(former)}'


def _statuses(deeds, before):
    """Return what a server may be after certain deeds. before: its status before them, or None"""
    if not deeds:
        return REST if before is None else (before,)
    *former, last = deeds
    wanted = EFFECTS[last.action]
    if last.action in KEEPING:
        kept = former
    elif last.action in ENDS and former and former[-1].action in RESIZES:
        kept = former[:-1]
    else:
        return wanted
    if not kept and before is None:
        return wanted
    return [each for each in _statuses(kept, before) if each in wanted]
