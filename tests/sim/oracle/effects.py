"""What was acknowledged was done: accepted actions are on record, and the last shows its effect."""

from tests.sim.oracle import outcomes

REST = ('ACTIVE', 'SHUTOFF')
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
    """ledger: a workload.ledger.Ledger; caller: a workload.caller.Caller"""

    def __init__(self, ledger, caller):
        self._ledger, self._excuses = ledger, ledger.excuses
        self._outcomes = outcomes.Outcomes(caller)

    def findings(self, server, actions):
        """Yield what was not done to a server. actions: on record, in any order"""
        recorded = {action['request_id']: action for action in actions}
        promised = self._ledger.promised.get(server['id'], {})
        for request_id, call in promised.items():
            if request_id not in recorded:
                yield f'accepted and not on record: {server["id"]} {call.what} {request_id}'
        deeds = self._sure(promised, recorded)
        if deeds and server['status'] != 'ERROR':
            unlike = server['status'] not in _statuses(deeds)
            if unlike and not self._excuses.of_unasked(server['id']):
                yield f'{server["id"]} is {server["status"]} after {deeds[-1].action}'
            yield from self._outcomes.of_actions(server, deeds)
        if self._knows(recorded, promised, outcomes.DEVICES):
            yield from self._outcomes.of_devices(server, promised, recorded)
        allowed = self._ledger.descriptions(server['id'])
        if allowed and server['description'] not in allowed:
            yield f'{server["id"]} has the description {server["description"]}, not of {allowed}'

    def _knows(self, recorded, promised, names):
        """Return whether clients know of all actions with such names whether they were accepted."""
        return all(
            request_id in promised or request_id in self._ledger.refused
            for request_id, action in recorded.items()
            if action['action'] in names
        )

    def _sure(self, promised, recorded):
        """Return the deeds that were certainly the last, in order, and did not fail.

        Clocks leap, so that what is on record does not tell the order: clients do.
        """
        if not self._knows(recorded, promised, EFFECTS):
            return []
        calls = [
            call
            for request_id, call in promised.items()
            if recorded.get(request_id, {}).get('action') in (*EFFECTS, CANCEL)
        ]
        calls.sort(key=lambda call: call.ended)
        sure = []
        while calls:
            call = calls.pop()
            action = recorded[call.request_id]
            overtaken = any(other.ended >= call.began for other in calls)
            if overtaken or action['message'] is not None or action['action'] == CANCEL:
                break
            sure.insert(0, outcomes.Deed(action['action'], call))
        return sure


def _statuses(deeds):
    """What a server may be after certain deeds."""
    *before, last = deeds
    wanted = EFFECTS[last.action]
    if last.action in KEEPING:
        kept = before
    elif last.action in ENDS and before and before[-1].action in RESIZES:
        kept = before[:-1]
    else:
        return wanted
    return [each for each in _statuses(kept) if each in wanted] if kept else wanted
