"""A refusal (4xx) has a reason: the state of the server, the quota, or what was asked.

The rules are stated here again, and are not those of `nova_lite.states.transitions`.
"""

import re

from tests.sim.workload import codes
from tests.sim.workload import outside
from tests.sim.workload import profiles

# The statuses from which an action may begin while nothing is being done to the server.
# Source: reference/nova/moves 1, reference/nova/create-server 5.
OFF_TOO = ('ACTIVE', 'SHUTOFF')
AT_REST = (*OFF_TOO, 'PAUSED', 'SUSPENDED')
BROKEN_TOO = (*OFF_TOO, 'ERROR')
WITH_PORTS = (*OFF_TOO, 'PAUSED')
WITH_DISKS = (*WITH_PORTS, 'VERIFY_RESIZE', 'SHELVED', 'SHELVED_OFFLOADED')
ALLOWED = {
    'start': ('SHUTOFF',),
    'stop': ('ACTIVE', 'ERROR'),
    'reboot_soft': ('ACTIVE',),
    'reboot_hard': (*AT_REST, 'ERROR'),
    'pause': ('ACTIVE',),
    'unpause': ('PAUSED',),
    'suspend': ('ACTIVE',),
    'resume': ('SUSPENDED',),
    'rescue': BROKEN_TOO,
    'unrescue': ('RESCUE',),
    'restore': ('SOFT_DELETED',),
    'shelve': AT_REST,
    'offload': ('SHELVED',),
    'unshelve': ('SHELVED', 'SHELVED_OFFLOADED'),
    'resize': OFF_TOO,
    'migrate': OFF_TOO,
    'cross': OFF_TOO,
    'live migrate': ('ACTIVE', 'PAUSED'),
    'confirm': ('VERIFY_RESIZE',),
    'revert': ('VERIFY_RESIZE',),
    'evacuate': BROKEN_TOO,
    'rebuild': BROKEN_TOO,
    'snapshot': AT_REST,
    'backup': AT_REST,
    'password': ('ACTIVE',),
    'metadata': AT_REST,
    'tags': AT_REST,
    'console': ('ACTIVE',),
    'crash_dump': ('ACTIVE', 'PAUSED', 'RESCUE', 'VERIFY_RESIZE', 'ERROR'),
    'attach volume': WITH_DISKS,
    'detach volume': WITH_DISKS,
    'swap': ('ACTIVE', 'PAUSED', 'VERIFY_RESIZE'),
    'attach interface': WITH_PORTS,
    'detach interface': WITH_PORTS,
    'attach share': ('SHUTOFF',),
    'detach share': ('SHUTOFF', 'ERROR'),
}
# These need no status.
ALWAYS = ('delete', 'force delete', 'update')
# Sagas of these do not show in the task state of a server that they keep busy.
UNSHOWN = (
    *('confirm', 'crash_dump', 'swap', 'abort', 'force'),
    *(
        f'{verb} {kind}'
        for verb in ('attach', 'detach')
        for kind in ('volume', 'interface', 'share')
    ),
)
# A saga of the server is under way, and lets no other one begin.
HELD = 'another operation is moving the server'
# The states may be right while such a saga is under way.
BUSY = (
    HELD,
    'Instance has not been resized',
    'its status must be',
    'status must be available or in-use',
)
# It is on no host.
UNBUILT = 'is not ready'
# A host does not report, or so it seems.
DOWN = 'is not up'
# No conductor of a cell receives what its hosts report.
UNHEARD = 'its cell has not heard any host'
# A host that does not report may have kept a guest when a move to it was undone.
LEFT = 'may still run on host'
# The guest has stopped by itself, and its record does not say so yet.
STOPPED = 'instance is not running'
# What a client asks wrongly at times.
WRONG = {
    # The server may have the image of a rebuild, which needs a larger disk.
    'resize': ('When resizing, instances must change flavor', 'is smaller than the minimum size'),
    'rebuild': ('is smaller than the minimum size',),
    'cross': ('Cannot migrate to the host where the server exists',),
    'evacuate': ('is up: only servers of a failed host can be evacuated',),
    'detach volume': ('Cannot detach a root device volume',),
    'backup': ('Backup is not supported for volume-backed instances',),
    'force': ('Cannot complete migration',),
    'abort': tuple(
        f'it is {status}.'
        for status in ('post-migrating', 'completed', 'cancelled', 'failed', 'error')
    ),
}
# A client names a host at random: it may be the server's own, of another cell, or down.
NAMED = re.compile(' (to host|by force)$')
SHOWN = ('status', 'OS-EXT-STS:task_state', 'updated')
# A volume or port that was listed may be one that is just attached, or was detached since.
APART = (
    'is not attached to volume',
    'does not have a port with id',
    'is not attached to instance',
)
ATTACHING = (
    *('attach volume', 'detach volume', 'attach interface', 'detach interface', 'swap'),
    *('attach share', 'detach share'),
)
SERVER = re.compile('/servers/([0-9a-f-]{36})')
# The next page of a list begins behind a server that is gone.
MARKER = re.compile(r'marker \[([0-9a-f-]{36})\] not found')
# Of the requests to create servers that are under way.
CREATE = 'create'
# [quota] instances, where a plan does not say otherwise.
DEFAULT_QUOTA = 10


class Refusals:
    """excuses: an excuses.Excuses; quota: how many servers there may be

    outside: a workload.outside.Outside; None: there are no outsiders
    calls: [workload.caller.Call, ...], all that are to change something
    """

    def __init__(self, excuses, quota=None, outside=None):
        self._excuses, self._quota = excuses, quota or DEFAULT_QUOTA
        self._outside = outside
        self.calls, self._doubts = [], {}

    def began(self, call):
        """A request is sent. call: a workload.caller.Call"""
        if call.method != 'GET':
            self.calls.append(call)

    def answered(self, call, text, *, leaving):
        """Return what is wrong with an answer, or None.

        leaving: {id of a server that somebody asked to delete: True}
        """
        if call.code == 409 or (call.code == 400 and any(each in text for each in BUSY)):
            self._doubts[call.who] = (call, text)
            return None
        if call.code not in codes.REFUSALS:
            return None
        look = {400: self._wrong, 403: self._over, 404: self._missing}.get(call.code)
        if (look and look(call, text, leaving)) or self._is_of_outsiders(text, call):
            return None
        if self._excuses.of_call(call) or self._lacks_device(text):
            return None
        return f'{call.who} {call.what}: refused without a reason: {call.code}: {text[:500]}'

    def _lacks_device(self, text):
        """Return whether a host has no device for a port, where hosts have too few."""
        reason = profiles.NO_DEVICE
        return reason in text and self._excuses.of_refusal(reason)

    def is_doubtful(self, who):
        """Return whether the states of a server may be why a client was refused."""
        return who in self._doubts

    def settled(self, who, before, after):
        """Return what is wrong with such a refusal, or None.

        before, after: its server, as shown just before the request and after the answer;
            `after` is None if it could not be shown
        """
        call, text = self._doubts.pop(who)
        if after is None:
            return None
        same = all(before.get(key) == after.get(key) for key in SHOWN)
        # A cell that is down shows no states.
        at_rest = before.get('OS-EXT-STS:task_state', 'unknown') is None and _has_run(before)
        allowed = call.what in ALWAYS or before['status'] in ALLOWED.get(_kind(call), ())
        if not (same and at_rest and allowed) or self._has_rival(call, before['id'], text):
            return None
        if self._excuses.of_call(call) or self._is_of_a_fault(call, before['id'], text):
            return None
        if self._is_reset(before['id'], text) or self._is_of_outsiders(text, call):
            return None
        return f'{who} {call.what}: refused in status {before["status"]}: {text[:500]}'

    def _is_of_a_fault(self, call, uuid, text):
        """Return whether a fault left a host or a guest as the refusal says."""
        needs_host = DOWN in text or LEFT in text
        down = needs_host and self._excuses.of_down(call.began, call.ended)
        return down or (STOPPED in text and self._excuses.of_unasked(uuid))

    def _is_of_outsiders(self, text, call):
        """Return whether a refusal names an object that outsiders had changed."""
        return self._outside is not None and self._outside.is_named(text, call.ended)

    def _is_reset(self, uuid, text):
        """Return whether an administrator reset the state of a server that is busy or unbuilt."""
        reset = self._outside is not None and self._outside.may_have(uuid, outside.RESET)
        return reset and any(each in text for each in (*BUSY, UNBUILT))

    def _has_rival(self, call, uuid, text):
        """Return whether another request for the server was, or may have been, under way."""
        for other in self.calls:
            if other is call or uuid not in other.url:
                continue
            # One without an answer may still be carried out.
            over = other.code != codes.LOST and other.ended < call.began
            begun = other.what in UNSHOWN and other.code not in codes.REFUSALS
            if not over or (begun and any(each in text for each in BUSY)):
                return True
            # A saga that met a fault may end long after the server shows its last state.
            if HELD in text and self._excuses.of_delay(other):
                return True
        return False

    def _wrong(self, call, text, leaving):
        wrong, marker = WRONG.get(_kind(call), ()), MARKER.search(text)
        if marker is not None:
            return marker[1] in leaving
        return NAMED.search(call.what) or any(each in text for each in wrong)

    def _over(self, call, _text, _leaving):
        """Return whether the quota may have been reached."""
        if call.what != CREATE:
            return False
        most, deleted = 0, set()
        for other in self.calls:
            if other.what == CREATE and (
                other.code in (codes.LOST, codes.ACCEPTED) or other.code >= 500
            ):
                most += other.count
            elif (
                other.method == 'DELETE' and other.code == codes.GONE and other.ended <= call.began
            ):
                deleted.add(other.url.partition('.sim')[2])
        return most - len(deleted) + call.count > self._least_quota(call)

    def _least_quota(self, call):
        """Return the smallest quota that there may have been during a request."""
        if self._outside is None:
            return self._quota
        return min(self._outside.held(outside.CHANGE_QUOTA, self._quota, call.began, call.ended))

    def _missing(self, call, text, leaving):
        """Return whether the server, or what is part of it, may be gone."""
        found = SERVER.search(call.url)
        if found is None or found[1] in leaving or found[1] not in text:
            return True
        others = [each for each in self.calls if each is not call and each.what in ATTACHING]
        return any(each in text for each in APART) and any(found[1] in each.url for each in others)


def _has_run(server):
    """Return whether a server has ever run: one whose build failed can do nothing."""
    return server.get('OS-SRV-USG:launched_at') is not None


def _kind(call):
    """The name of what a request asks for, with or without the name of a host."""
    return NAMED.sub('', call.what)
