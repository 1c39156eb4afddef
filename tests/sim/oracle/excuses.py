"""Excuses by faults: only for requests that met them.

A request may fail when a fault met it, or when a process that it needed was in trouble
while it was under way. A server may be in ERROR when a fault met what was asked of it.
"""

from tests.sim.oracle import outcomes
from tests.sim.workload import codes
from tests.sim.world import faults
from tests.sim.world import losses
from tests.sim.world import stalls

HOST = outcomes.HOST
# Seconds for which those who waited for a process that was in trouble may not know better:
# the longest time of a call, and what is sent to it until it has its queues again.
AFTERMATH_S = 30
# By when a host that was in trouble has reported again.
DOWN_S = 60
# What an API asks daemons for, and waits for the answer, begins with one of these.
WAITING = ('attach', 'detach', 'swap', 'password', 'live migrate')
DELETIONS = ('delete', 'force delete')
# For what an API asks the image service, begins with one of these.
OF_IMAGES = ('create', 'rebuild', 'rescue', 'snapshot', 'backup', 'shelve', 'unshelve')
# Parts of a cloud that serve APIs directly.
NEIGHBOURS = ('simcloud', 'placement')
# For want of another host, a server may suffer from a fault of one that it never was on.
NO_HOST = 'No valid host'
# What does no harm to a request.
HARMLESS = ('clock', 'power off', losses.FATE)
# What outlives these: an action that was accepted is ended by others, or by their successors.
# A bus that was silent delivers what it accepted, and the rest is sent again.
BUS = 'bus-'
ENDURED = ('api', 'super', 'conductor', BUS)
# A cell whose database does not answer is waited for, so that it does not leave servers without a
# host.
BLACKOUT = 'blackout'
# What receives the reports of a cell's hosts.
HEARING = ('conductor', BUS)
# Kinds of faults by which reports of hosts come too late: a database may be slow.
SILENCING = ('nemesis', 'begin')
# What refuses no request, and reports for no host, but may leave a database locked.
DECIDING = ('api', 'super', 'scheduler')
# Some of its threads read for all requests, and do not say for which one they do just now. A
# new server's action is recorded when it has answered: so many seconds later at most.
SCHEDULER, ANSWERS_S = 'scheduler', 5


class Excuses:
    """faults: a world.faults.Faults; refusals: see plan.Plan"""

    def __init__(self, faults, refusals=()):
        self._faults, self._refusals = faults, tuple(refusals)

    def of_call(self, call):
        """Return whether a client's request may have failed. call: a workload.caller.Call"""
        # With an internal error a service says that it does not know what went wrong, or that
        # a host could not do what it should have done to a guest.
        met = _lost_guest if call.code == codes.INTERNAL_ERROR else _met
        # A deletion is accepted whatever a neighbour says: it ends later.
        deletes = call.what.startswith(DELETIONS)
        return any(
            met(fault, call)
            for fault in self._faults.injected
            if not (deletes and fault.fate.startswith(faults.DENIED))
        )

    def of_blackout(self, call):
        """Return whether a list may lack servers: of a cell whose database did not answer."""
        return any(
            fault.fate == BLACKOUT and fault.overlaps(call.began, call.ended, AFTERMATH_S)
            for fault in self._faults.injected
        )

    def of_delay(self, call):
        """Return whether a fault met work of the request, which may end late or be undone."""
        began = call.code not in codes.REFUSALS
        return began and any(call.request_id in each.requests for each in self._faults.injected)

    def of_down(self, began, ended, *, accepted=False):
        """Return whether a host may have counted as down between two virtual times.

        accepted: as far as that excuses what was accepted, which a silent bus does not
        """
        return any(
            _silences(fault, began, ended)
            for fault in self._faults.injected
            if not (accepted and fault.process.startswith(BUS))
        )

    def of_unheard(self, began, ended):
        """Return whether a cell may have heard no host between two virtual times."""
        return any(
            _silences(fault, began, ended)
            for fault in self._faults.injected
            if fault.locked or fault.process.startswith(HEARING)
        )

    def of_unasked(self, server):
        """Return whether the guest of a server may have stopped by itself. server: its id"""
        return any(
            fault.fate in ('power off', losses.FATE) and not _is_of_another(fault, server)
            for fault in self._faults.injected
        )

    def of_scheduling(self):
        """Return whether hosts may refuse servers, or none may take one, without a fault."""
        return bool(self._refusals)

    def of_refusal(self, reason):
        """Return whether hosts refuse for this reason though nothing went wrong."""
        return reason in self._refusals

    def of_error(self, message, server, work, hosts=None):
        """Return whether a server may be in ERROR, with that fault.

        server: its id; work: [(request id, begin, end), ...] of its actions
        hosts: that it was on, or was to be on; None: of any
        """
        no_host = NO_HOST in message
        return message.startswith(self._refusals) or any(
            _hurt(fault, action, None if no_host else hosts)
            for fault in self._faults.injected
            for action in work
            if not _is_of_another(fault, server) and not (no_host and fault.fate == BLACKOUT)
        )


def _is_of_another(fault, server):
    """Return whether the guest of another server was lost."""
    return fault.fate == losses.FATE and fault.where != server


def _silences(fault, began, ended):
    """Return whether a fault kept a host from reporting, or a request from seeing that it did."""
    if fault.fate.startswith((losses.FATE, 'clock')) or fault.kind not in SILENCING:
        return False
    locks = any(name.startswith('cell') for name in fault.locked)
    reports = locks or not fault.process.startswith(DECIDING)
    return reports and fault.overlaps(began, ended, DOWN_S)


def _lost_guest(fault, call):
    """Return whether the guest of a request's server was lost."""
    lost = fault.fate == losses.FATE and fault.where in call.url
    return lost and fault.overlaps(call.began, call.ended, AFTERMATH_S)


def _met(fault, call):
    """Return whether a request met a fault."""
    if call.request_id in fault.requests:
        return True
    served = f'//{fault.process}.' in call.url
    if call.code == codes.LOST and fault.fate.startswith(stalls.FATES):
        # Its id is not known. The image service is asked more than once.
        served = served and call.what.startswith(OF_IMAGES)
        return served and fault.overlaps(call.began, call.ended)
    if fault.kind == 'nemesis':
        return _missed(fault, call, served)
    # Threads that work for all requests do not say for which one they do just now.
    asks_or_serves = fault.process == call.who or (served and not fault.requests)
    return asks_or_serves and fault.overlaps(call.began, call.ended)


def _missed(fault, call, served):
    """Return whether a request needed a process that was in trouble."""
    if call.code in codes.REFUSALS and fault.process.startswith(DECIDING):
        return False
    if call.cell is not None and _cell_of(fault.process) not in (None, call.cell):
        return False
    if fault.fate.startswith(HARMLESS) or (fault.process.startswith('api') and not served):
        return False
    if call.code == codes.LOST:
        # Who waits for others in vain answers so.
        return served and fault.overlaps(call.began, call.ended)
    # What is only read comes from databases, but for ports.
    needed = served or call.method != 'GET' or _reads_ports(fault, call)
    if call.code >= codes.INTERNAL_ERROR:
        needed = needed and (served or _is_asked(fault, call))
        # Also what is only read: parts of a server whose cell does not answer.
        needed = needed or fault.fate == BLACKOUT
    return needed and fault.overlaps(call.began, call.ended, AFTERMATH_S)


def _is_asked(fault, call):
    """Return whether a request cannot be answered without what was in trouble."""
    if fault.locked or fault.process.startswith((*NEIGHBOURS, BUS)):
        return True
    cell, host = _cell_of(fault.process), call.look and call.look.server.get(HOST)
    elsewhere = bool(cell and host) and _cell_of(host) != cell
    return call.what.startswith(WAITING) and not elsewhere


def _cell_of(process):
    """The cell that a process, or a host, is part of; None of those that serve all cells."""
    return next((part for part in process.split('-') if part.startswith('cell')), None)


def _reads_ports(fault, call):
    """Return whether a request asked the network service, which was in trouble."""
    return fault.process == 'simcloud' and call.url.endswith('/os-interface')


def _hurt(fault, action, hosts):
    """Return whether a fault met an action. hosts: see Excuses.of_error"""
    request_id, begin, end = action
    # An API answers that it could not do what was asked.
    if fault.fate.startswith(stalls.SHORT) and not fault.process.startswith('api'):
        return False
    if request_id in fault.requests:
        return True
    if fault.process == SCHEDULER and not fault.requests:
        return fault.overlaps(begin - ANSWERS_S, end)
    endured = fault.fate.startswith('clock') or fault.process.startswith(ENDURED)
    elsewhere = bool(fault.hosts and hosts) and not {*fault.hosts} & {*hosts}
    harms = fault.kind == 'nemesis' and not (endured or elsewhere)
    return harms and fault.overlaps(begin, end, AFTERMATH_S)
