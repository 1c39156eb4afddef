"""Actions on servers: those of users end well, and only users start them.

Read from the actions on record. What a fault met, or a refusal of its own, may fail. A
request that was refused with a 4xx code has an action at most if this failed. Requests to
remove one thing may fail when there were several.
"""

import datetime

from tests.sim.kernel import process
from tests.sim.oracle import effects
from tests.sim.oracle import outcomes
from tests.sim.oracle import refusals
from tests.sim.workload import outside
from tests.sim.workload import owners
from tests.sim.workload import profiles

# A move may fail though nothing went wrong, in some plans: no host takes the server, or one
# refuses it.
REFUSED = ('No valid host', 'policy of server group', 'injected failure of')
# Clients that force a move may name the server's own host.
OWN_HOST = 'the server is already on host'
# What it was to act on may be over by then.
LATE = ('live_migration_cancel', 'live_migration_force_complete')
# Texts by which a failure says that a host counts as down: a request to it, or the scheduler.
DOWN = (refusals.DOWN, 'ComputeFilter')
HOST, TASK = outcomes.HOST, effects.TASK
CLIENT, LIVE = 'client', 'live-migration'
# An audit asks for it, too, of servers that were shelved some time ago.
OFFLOAD = 'shelveOffload'
WITH_IMAGES = ('createImage', 'createBackup', 'shelve', 'unshelve', OFFLOAD)
# A reboot does, of volumes of which Cinder has no attachment.
DETACH = 'detach_volume'
# What a host says of a guest that it does not have.
GONE = 'is not defined on'
# An audit does, or the API, after the state of a resized server was reset.
CONFIRM = 'confirmResize'
# An audit does, if the guest of a server that is said to be active is off.
STOP = 'stop'
# Guests are interrupted that a resize has moved while they were off, or that have failed.
CRASH_DUMP, OFF = 'trigger_crash_dump', 'its power state is SHUTDOWN'
# It waits for an audit if a fault kept its host from hearing of it.
DELETING = 'deleting'


class Lasting(str):
    """A finding that does not go away."""

    __slots__ = ()


class Deeds:
    """caller: a workload.caller.Caller; ledger: a workload.ledger.Ledger"""

    def __init__(self, caller, ledger):
        self._caller, self._ledger, self._excuses = caller, ledger, ledger.excuses
        self._effects = effects.Effects(ledger, caller)

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
        failed = [each for each in actions if each['message'] == outcomes.FAILED]
        if server['status'] == 'ERROR' and not (
            'error' in self._ledger.outside.values(outside.RESET, server['id'])
            or self._is_excused(message, server, failed or actions)
        ):
            yield f'unexplained ERROR: {server["id"]}: {message}'
        if not self._is_where_requested(server, actions):
            yield f'not where requested: {server["id"]}'
        yield from self._effects.findings(server, actions)
        for action in actions:
            told = f'{server["id"]} {action["action"]} {action["request_id"]}'
            by_itself = action['user_id'] != CLIENT and action['action'] != OFFLOAD
            if by_itself and not self._may_be_unasked(server['id'], action):
                yield Lasting(f'no user asked for it: {told}')
            code = self._ledger.refused.get(action['request_id'])
            failed = action['message'] == outcomes.FAILED
            if not failed and server[TASK] is None:
                self._ledger.done(action['request_id'])
            if code is not None:
                if not failed:
                    yield f'answered {code}, but it was done: {told}'
                continue
            if failed and not self._may_fail(message, server, action):
                details = self._details(server['id'], action['request_id'])
                yield Lasting(f'failed without a fault: {told}: {message or details}')

    def of_images(self):
        """Yield what is left of images; those of servers are listed again for `findings`."""
        self._effects.images.look()
        return self._effects.images.left()

    def _is_where_requested(self, server, actions):
        host, wanted = server[HOST], self._ledger.requested.get(server['id'])
        moved = any(action['action'] in effects.MOVES for action in actions)
        return None in (host, wanted) or host == wanted or moved

    def _may_fail(self, message, server, action):
        cancelled = action['action'] == LIVE and self._ledger.is_cancelled(
            server['id'], action['request_id']
        )
        moves = action['action'] in effects.MOVES
        waits = self._must_wait(server, action)
        return (
            server[TASK] == DELETING
            or cancelled
            or action['action'] in LATE
            or self._ledger.deletions.may_interrupt(server['id'], *_work(action)[1:])
            or action['request_id'] in self._ledger.rivals
            or self._was_reset(server, action)
            or (not waits and self._is_excused(message, server, [action]))
            or self._has_reason(server, action, moves=moves, waits=waits)
        )

    def _must_wait(self, server, action):
        """Return whether an action must not fail because its host does not answer for a while."""
        accepted = action['request_id'] in self._ledger.promised.get(server['id'], ())
        return self._ledger.patient and accepted and action['action'] in outcomes.DEVICES

    def _may_be_unasked(self, uuid, action):
        """Return whether nova_lite acts by itself after a fault, or what an outsider did."""
        reset = self._ledger.outside
        lost = action['action'] == DETACH and reset.done(owners.RESET)
        # It was said to be active, and its guest was off: an audit records that.
        # So it is after failures that stay as in nova.
        off = action['action'] == STOP and (
            'active' in reset.values(outside.RESET, uuid)
            or self._excuses.of_refusal(profiles.INJECTED)
        )
        # A resize whose server was reset can only be confirmed.
        confirmed = action['action'] == CONFIRM and bool(reset.values(outside.RESET, uuid))
        return bool(lost) or off or confirmed or self._excuses.of_unasked(uuid)

    def _was_reset(self, server, action):
        """Return whether an administrator reset the state of a server during an action.

        One that was being offloaded then, and is said to be active, has no guest.
        """
        _request_id, began, ended = _work(action)
        reset = self._ledger.outside
        active = 'active' in reset.values(outside.RESET, server['id'])
        lost = server[HOST] is None or GONE in self._details(server['id'], action['request_id'])
        return (active and lost) or reset.met(outside.RESET, server['id'], began, ended)

    def _has_reason(self, server, action, *, moves, waits):
        """Return whether what is on record of a failure excuses it."""
        details = self._details(server['id'], action['request_id'])
        request_id, began, ended = _work(action)
        silenced = not waits and _names_down(details)
        silenced = silenced and self._excuses.of_down(began, ended, accepted=True)
        # In most plans there is room for all servers, but not on any host that a client names.
        named = self._ledger.named_hosts(server['id'], request_id, began)
        moves = moves and (self._excuses.of_scheduling() or bool(named))
        own = self._ledger.named_own_hosts(server['id'], request_id, began)
        occupied = (each for each in profiles.OCCUPIED if self._excuses.of_refusal(each))
        reasons = (*REFUSED, *(f'{OWN_HOST} {host}' for host in own), *occupied)
        refused = any(each in details for each in reasons)
        # The owner of an image has deleted it while it was made, or the only copy of a disk.
        lost = action['action'] in WITH_IMAGES and self._ledger.outside.is_named(
            details, ended, owners.DELETE_IMAGE
        )
        # Cinder attaches no volume whose status says that somebody works on it.
        lost = lost or self._ledger.outside.is_named(details, ended, outside.STICK_VOLUME)
        uncopied = profiles.UNCOPIED in details and self._excuses.of_refusal(profiles.UNCOPIED)
        moved = moves and (refused or self._is_unreached(server, named, details))
        off = action['action'] == CRASH_DUMP and OFF in details
        off = off and self._ledger.may_be_off(server['id'], request_id)
        left = profiles.INJECTED in details and self._excuses.of_refusal(profiles.INJECTED)
        return silenced or lost or uncopied or moved or off or left

    def _is_unreached(self, server, named, details):
        """Return whether a host was named that does not reach a volume of the server.

        Where none was named, another one is tried. named: the hosts that may have been
        """
        if not self._excuses.of_refusal(profiles.UNREACHED):
            return False
        reason = f'cannot take instance {server["id"]}: {profiles.UNREACHED}'
        return any(f'Host {host} {reason}' in details for host in named)

    def _is_excused(self, message, server, actions):
        work = [_work(each) for each in actions]
        if _names_down(message) and any(
            self._excuses.of_down(*each[1:], accepted=True) for each in work
        ):
            return True
        if not self._excuses.of_error(message, server['id'], work):
            return False
        # Few servers are in ERROR, and few actions have failed: their hosts are looked for last.
        hosts, details = self._hosts(server, actions)
        told = ' '.join(filter(None, (message, *details)))
        return self._excuses.of_error(told, server['id'], work, hosts)

    def _hosts(self, server, actions):
        """Return the hosts that actions of a server had to do with, and what they failed with."""
        uuid, hosts, details = server['id'], {server[HOST]: True}, []
        code, found = self._caller.send('moves', 'GET', f'/os-migrations?instance_uuid={uuid}')
        for move in found['migrations'] if code == 200 else ():
            hosts |= {move['source_compute']: True, move['dest_compute']: True}
        for action in actions:
            for event in self._events(uuid, action['request_id']):
                hosts[event['host']] = True
                details.append(event['details'])
            for named in self._ledger.named_hosts(uuid, action['request_id'], _work(action)[1]):
                hosts[named] = True
        return [host for host in hosts if host is not None], details

    def _details(self, uuid, request_id):
        """Return what is on record of why an action failed."""
        return ' '.join(each['details'] or '' for each in self._events(uuid, request_id))

    def _events(self, uuid, request_id):
        """Return the events of an action; none if they could not be read."""
        path = f'/servers/{uuid}/os-instance-actions/{request_id}'
        code, found = self._caller.send('action', 'GET', path)
        return found['instanceAction']['events'] if code == 200 else ()


def _names_down(text):
    """Return whether a text says that a host counts as down."""
    return any(each in text for each in DOWN)


def _work(action):
    """Return (request id, begin, end) of an action."""
    began, ended = (_virtual(action[name]) for name in ('start_time', 'updated_at'))
    return action['request_id'], began, ended


def _virtual(text):
    """The virtual time at which an undisturbed clock shows this."""
    moment = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
    return moment.timestamp() - process.EPOCH_US / 10**6
