"""What was acknowledged was done: accepted actions are on record, and the last shows its effect."""

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
}
# What may take a server to another host.
MOVES = frozenset(('migrate', 'resize', 'live-migration', 'evacuate', 'unshelve'))
# What changes the status.
CHANGING = (*EFFECTS, *sorted(MOVES), 'rebuild', 'confirmResize', 'revertResize')


class Effects:
    """ledger: a workload.ledger.Ledger"""

    def __init__(self, ledger):
        self._ledger, self._excuses = ledger, ledger.excuses

    def findings(self, server, actions):
        """Yield what was not done to a server. actions: on record, in any order"""
        recorded = {action['request_id']: action for action in actions}
        promised = self._ledger.promised.get(server['id'], {})
        for request_id, call in promised.items():
            if request_id not in recorded:
                yield f'accepted and not on record: {server["id"]} {call.what} {request_id}'
        last = self._last(promised, recorded)
        wanted = (server['status'],) if last is None else EFFECTS.get(last['action'])
        unlike = wanted and server['status'] not in (*wanted, 'ERROR')
        if unlike and not self._excuses.of_unasked(server['id']):
            yield f'{server["id"]} is {server["status"]} after {last["action"]}'
        allowed = self._ledger.descriptions(server['id'])
        if allowed and server['description'] not in allowed:
            yield f'{server["id"]} has the description {server["description"]}, not of {allowed}'

    def _last(self, promised, recorded):
        """Return the action that was certainly the last, and did not fail; or None.

        Clocks leap, so that what is on record does not tell the order: clients do.
        """
        for request_id, action in recorded.items():
            known = request_id in promised or request_id in self._ledger.refused
            if action['action'] in CHANGING and not known:
                return None
        calls = sorted(promised.values(), key=lambda call: call.ended)
        if not calls or any(call.ended >= calls[-1].began for call in calls[:-1]):
            return None
        last = recorded.get(calls[-1].request_id)
        return None if last is None or last['message'] is not None else last
