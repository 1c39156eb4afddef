"""What was done to a server: what users asked for ends well, and only users ask.

Read from the actions on record. What a fault met, or a refusal of its own, may fail. A
request that was refused with a 4xx code has an action at most if this failed. Requests to
remove one thing may fail when there were several.
"""

import datetime

from tests.sim import kernel
from tests.sim.oracle import effects

# Actions that only a fault can make fail once they were accepted, unless the server is gone or
# being deleted. Moves are not among them: there may be no room for them, and they can be aborted.
CERTAIN = frozenset(
    (
        'create',
        'start',
        'stop',
        'reboot',
        'pause',
        'unpause',
        'suspend',
        'resume',
        'rebuild',
        'rescue',
        'unrescue',
        'shelve',
        'shelveOffload',
        'unshelve',
        'confirmResize',
        'revertResize',
        'attach_volume',
        'detach_volume',
        'attach_interface',
        'detach_interface',
    )
)
# A server that no host takes is as it was before: it shows no fault that says why.
SCHEDULED = 'unshelve'
HOST, TASK = 'OS-EXT-SRV-ATTR:host', 'OS-EXT-STS:task_state'
CLIENT = 'client'
# An audit asks for it, too, of servers that were shelved some time ago.
OFFLOAD = 'shelveOffload'
# It waits for an audit if a fault kept its host from hearing of it.
DELETING = 'deleting'


class Lasting(str):
    """A finding that does not go away."""

    __slots__ = ()


class Deeds:
    """caller: a workload.caller.Caller; ledger: a workload.ledger.Ledger"""

    def __init__(self, caller, ledger):
        self._caller, self._ledger, self._excuses = caller, ledger, ledger.excuses
        self._effects = effects.Effects(ledger)

    def findings(self, server):
        """Yield what is not as it should be with a server, as the API shows it.

        What is on record for good is Lasting.
        """
        path = f'/servers/{server["id"]}/os-instance-actions'
        code, found = self._caller.send('actions', 'GET', path)
        if code != 200:
            yield f'actions of {server["id"]}: {code}'
            return
        actions = found['instanceActions']
        message = server.get('fault', {}).get('message', '')
        if server['status'] == 'ERROR' and not self._is_excused(message, server, actions):
            yield f'unexplained ERROR: {server["id"]}: {message}'
        if not self._is_where_requested(server, actions):
            yield f'not where requested: {server["id"]}'
        yield from self._effects.findings(server, actions)
        for action in actions:
            told = f'{server["id"]} {action["action"]} {action["request_id"]}'
            by_itself = action['user_id'] != CLIENT and action['action'] != OFFLOAD
            if by_itself and not self._excuses.of_unasked(server['id']):
                yield Lasting(f'no user asked for it: {told}')
            code = self._ledger.refused.get(action['request_id'])
            failed = action['message'] == 'Error'
            if action['message'] is None and server[TASK] is None:
                self._ledger.done(action['request_id'])
            if code is not None:
                if not failed:
                    yield f'answered {code}, but it was done: {told}'
                continue
            if failed and not self._may_fail(message, server, action):
                yield Lasting(f'failed without a fault: {told}: {message}')

    def _is_where_requested(self, server, actions):
        host, wanted = server[HOST], self._ledger.requested.get(server['id'])
        moved = any(action['action'] in effects.MOVES for action in actions)
        return None in (host, wanted) or host == wanted or moved

    def _may_fail(self, message, server, action):
        return (
            action['action'] not in CERTAIN
            or server[TASK] == DELETING
            or action['request_id'] in self._ledger.rivals
            or (action['action'] == SCHEDULED and self._excuses.of_scheduling())
            or self._is_excused(message, server, [action])
        )

    def _is_excused(self, message, server, actions):
        work = [
            (each['request_id'], _virtual(each['start_time']), _virtual(each['updated_at']))
            for each in actions
        ]
        return self._excuses.of_error(message, server['id'], work)


def _virtual(text):
    moment = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
    return kernel.current().since_epoch(moment.timestamp())
