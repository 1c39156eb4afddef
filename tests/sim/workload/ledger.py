"""Requests of clients and their answers, and violations found in them."""

import collections
import re

from tests.sim import kernel
from tests.sim import totals
from tests.sim.oracle import effects
from tests.sim.oracle import outcomes
from tests.sim.oracle import refusals as refusals_module
from tests.sim.workload import codes
from tests.sim.workload import deletions
from tests.sim.workload import labels
from tests.sim.workload import outside
from tests.sim.workload import owners

UNFILLED = re.compile(r'upload of image .* of server ([0-9a-f-]{36}) is queued')
SHELVED = re.compile(
    r'image ([0-9a-f-]{36}).* is (?:not what server .* was shelved in|of server .*, deleted)'
)
# Of which an action is recorded.
ACTION = re.compile(
    '/servers/([^/]+)/(?:action|os-interface|os-volume_attachments|shares|migrations)(?:/|$)'
)
HOST, TASK = outcomes.HOST, effects.TASK
RUNNING = 1
# Of requests for live migrations, by whatever host.
LIVE = 'live migrate'
# What clients make for themselves: {name of the request: its kind}.
MADE = {'make volume': 'volume', 'make port': 'port'}
# Seconds in which a request is answered that only reads, and one that changes something.
PROMPT_S, WAITING_S = 1, 30
# Whose requests are counted.
COUNTED = ('client', 'owner', 'administrator')
# What may have been done all the same: another client may have detached the port that was
# attached, before it was looked at for the answer.
UNSURE = (('attach interface', 404),)


class Ledger:
    """violations: [text, ...]

    refused: {request id: code} of those that were answered so
    rivals: {request id: path} of accepted requests to remove one and the same thing
    cells: {id of a server: cell that it never leaves}
    requested: {id of a server: host that was named for it}
    lacking: {id of a server that needs a device which no host has: True}
    promised: {id of a server: {request id: Call}} of its actions that were accepted
    made: {kind: {id: True}} of the volumes and ports that clients made for themselves
    excuses: an oracle.excuses.Excuses; quota: how many servers there may be
    prompt: whether all requests must be answered soon; kept_s: see deletions.Deletions
    patient: see plan.Plan
    labels: a labels.Labels; outside: an outside.Outside
    refusals: an oracle.refusals.Refusals; counts: {text: number}, those of the history
    """

    def __init__(self, excuses, quota=None, counts=None, *, prompt=False, patient=False, kept_s=0):
        self.excuses, self._prompt, self.patient = excuses, prompt, patient
        self._counts = collections.Counter() if counts is None else counts
        self._asked, self._done = {}, {}
        self.violations = []
        # Dictionaries, since a set has no order of its own.
        self._accepted, self._ending, self.gone = {}, {}, {}
        self.cells, self.promised = {}, {}
        self.made = {kind: {} for kind in MADE.values()}
        self._snapshots = []
        self.labels, self.outside = labels.Labels(), outside.Outside()
        self.refusals = refusals_module.Refusals(excuses, quota, self.outside)
        self.deletions = deletions.Deletions(kept_s)
        self.refused, self.rivals, self._removals, self.requested = {}, {}, {}, {}
        self._cancels, self._lost = [], []
        self.lacking = {}

    def violation(self, text):
        """Something is not as it should be: the history ends here."""
        self.violations.append(text)
        kernel.current().fail(text)

    def answered(self, call, text):
        """A client was answered; code 0: it was not. call: a caller.Call"""
        code = call.code
        self._count(call)
        if call.what == 'abort' and code not in codes.REFUSALS:
            self._cancels.append(call)
        if call.what in MADE and code in codes.DONE:
            kind = MADE[call.what]
            self.made[kind][call.answer[kind]['id']] = True
        if code == codes.LOST:
            self._lost.append(call)
            if call.what == 'snapshot':
                self._snapshots.append(call.url)
        if code in codes.REFUSALS and (call.what, code) not in UNSURE:
            self.refused[call.request_id] = code
        elif call.method == 'DELETE':
            self._removal(call)
        if code in codes.DONE and call.method != 'GET' and (found := ACTION.search(call.url)):
            self.promised.setdefault(found[1], {})[call.request_id] = call
        if (code == codes.LOST or code >= 500) and not self._is_excused(call, text):
            request = f'{call.method} {call.url}'
            self.violation(f'{call.who} {call.what}: {request}: unexplained {code}: {text[:500]}')
        if wrong := self.refusals.answered(call, text, leaving=self._ending):
            self.violation(wrong)
        limit_s = PROMPT_S if call.method == 'GET' else WAITING_S
        if self._prompt and call.ended - call.began > limit_s:
            seconds = call.ended - call.began
            self.violation(f'{call.who} {call.what}: {call.method} took {seconds:.1f} s')

    def _is_excused(self, call, text):
        """Return whether a fault explains that a request was not carried out. text: its answer"""
        unheard = refusals_module.UNHEARD in text
        return self.excuses.of_call(call) or (
            unheard and self.excuses.of_unheard(call.began, call.ended)
        )

    def _count(self, call):
        if call.method == 'GET' or not call.who.startswith(COUNTED):
            return
        self._counts[f'{totals.ASKED}{call.what}'] += 1
        if call.code in codes.DONE:
            self._counts[f'{totals.ACCEPTED}{call.what}'] += 1
            self._asked[call.request_id] = call.what

    def count(self, what):
        """Count an operation that is no request."""
        self._counts[f'{totals.ASKED}{what}'] += 1
        self._counts[f'{totals.ACCEPTED}{what}'] += 1

    def done(self, request_id):
        """Count a request that was carried out as far as is on record."""
        if request_id in self._asked and request_id not in self._done:
            self._done[request_id] = True
            self._counts[f'{totals.DONE}{self._asked[request_id]}'] += 1

    def _removal(self, call):
        path = call.url.partition('.sim')[2]
        first = self._removals.setdefault(path, call.request_id)
        if first != call.request_id:
            self.rivals.update({first: path, call.request_id: path})

    def accepted(self, uuid, host=None, *, lacking=False):
        """A server was accepted. host: on which it is to be built; lacking: no host can take it"""
        self._accepted.setdefault(uuid, True)
        if lacking:
            self.lacking[uuid] = True
        if host:
            self.requested[uuid] = host

    def is_unfilled(self, finding):
        """Return whether `verify` has found an image that an API left empty which was killed.

        It is created before it is filled, as nova's is, and no client learns its id.
        """
        found = UNFILLED.search(finding)
        return found is not None and any(found[1] in url for url in self._snapshots)

    def is_detached(self, finding):
        """Return whether `verify` names a volume that was declared free, and no reboot since.

        A reboot compares the volumes of a server with the volume service. A volume that was given
        a status of work keeps it.
        """
        if any(volume in finding for volume in self.outside.done(outside.STICK_VOLUME)):
            return True
        for volume, change in self.outside.done(outside.RESET_VOLUME).items():
            servers = [uuid for uuid in self.promised if uuid in finding]
            calls = [call for uuid in servers for call in self.promised[uuid].values()]
            reboots = [call for call in calls if call.what.startswith('reboot')]
            if volume in finding:
                return not any(change.call.ended < call.began for call in reboots)
        return False

    def is_protected(self, finding):
        """Return whether `verify` has found a shelved image that its owner has protected.

        The image service refuses to delete such an image when its server is unshelved. It stays
        with its owner, who may end the protection later.
        """
        found = SHELVED.search(finding)
        return found is not None and found[1] in self.outside.done(owners.PROTECT)

    def is_cancelled(self, uuid, request_id):
        """Return whether a live migration of a server, asked for so, may have been aborted.

        The abort was answered after that, and no later one was accepted before the abort.
        """
        calls = [each for each in self.promised.get(uuid, {}).values() if LIVE in each.what]
        asked = next((each for each in calls if each.request_id == request_id), None)
        later = [each for each in calls if asked and asked.ended < each.began]
        return any(
            uuid in cancel.url
            and (asked is None or asked.began < cancel.ended)
            and not any(each.ended < cancel.began for each in later)
            for cancel in self._cancels
        )

    def named_hosts(self, uuid, request_id, began):
        """Return the hosts that the request for an action of a server may have named.

        began: virtual time at which the action began. The id of a request without an answer is
            not known: those for the server at that time count
        """
        return [host for _call, host in self._naming(uuid, request_id, began)]

    def named_own_hosts(self, uuid, request_id, began):
        """Return the hosts among `named_hosts` that the server may have been on then.

        A client knows better that saw the server at rest on another host, when no other request
        for the server was under way from then on.
        """
        return [
            host
            for call, host in self._naming(uuid, request_id, began)
            if not _is_at_rest(call.look)
            or call.look.server[HOST] == host
            or self.has_rival(uuid, call)
        ]

    def may_be_off(self, uuid, request_id):
        """Return whether the guest of a server may have been off when an action was requested."""
        call = self.promised.get(uuid, {}).get(request_id)
        if call is None or call.look is None:
            return call is None
        return call.look.server[effects.POWER] != RUNNING or self.has_rival(uuid, call)

    def has_rival(self, uuid, call):
        """Return whether the server may have changed between a look at it and a call."""
        accepted = self.promised.get(uuid, {}).values()
        lost = any(uuid in each.url for each in self._lost if each is not call)
        return lost or any(
            call.look.time <= each.ended and each.began <= call.ended
            for each in accepted
            if each is not call
        )

    def _naming(self, uuid, request_id, began):
        """Return [(call, host), ...] of the calls of `named_hosts`."""
        calls = [self.promised.get(uuid, {}).get(request_id)]
        if calls == [None]:
            calls = [
                each
                for each in self._lost
                if uuid in each.url and int(each.began) <= began <= each.ended
            ]
        contents = [(each, content) for each in calls for content in (each.body or {}).values()]
        return [
            (call, content['host'])
            for call, content in contents
            if isinstance(content, dict) and content.get('host')
        ]

    def cell_of(self, url):
        """The cell of the server that a URL names, None where that does not matter."""
        return next((cell for uuid, cell in self.cells.items() if uuid in url), None)

    def ending(self, uuid):
        """Somebody is about to ask that a server be deleted."""
        self._ending[uuid] = True

    def must_be_there(self, uuid):
        """Return whether a server cannot be gone."""
        kept = self.deletions.must_be_kept(uuid, kernel.current().time())
        return kept or uuid in self.standing()

    def standing(self):
        """Return the ids of accepted servers that no client has asked to delete."""
        return [uuid for uuid in self._accepted if uuid not in self._ending]


def _is_at_rest(look):
    """Return whether a look shows that nothing was being done to a server. look: may be None"""
    return look is not None and look.server.get(TASK, 'unknown') is None
