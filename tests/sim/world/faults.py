"""Faults, drawn from the seed, and recorded for the oracle."""

import dataclasses
import math
import re

from oslo_context import context

from tests.sim import kernel
from tests.sim import totals

# Seconds that a slow server takes to begin a transaction.
SLOW_S = (1, 20)
REQUEST = re.compile(r'req-[0-9a-f-]{36}')
# What befalls requests that a neighbour refuses, and those that give up what a server has.
DENIED, KEPT = 'denied', 'denied release'
# What befalls statements and commits of a database that does not answer.
DARK = {'statement': 'lost', 'commit': 'lost before'}


@dataclasses.dataclass
class Fault:
    """A fault: its place, beginning and end.

    process: the one it befell; requests: ids of the requests whose work met it
    locked: names of the databases that it left locked
    hosts: those that the process serves, if it is one of some hosts
    """

    kind: str
    fate: str
    where: str
    process: str
    begin: float
    end: float
    requests: tuple = ()
    locked: tuple = ()
    hosts: tuple = ()

    def overlaps(self, begin, end, aftermath_s=0.0):
        """Return whether it lasted, or had just ended, at some time between these."""
        return self.begin <= end and begin <= self.end + aftermath_s


class Faults:
    """The faults of a history; none occurs while `quiet`.

    injected: [Fault, ...]; dark: {name of a database that does not answer: True}
    """

    def __init__(self):
        self.quiet = True
        self.injected, self.dark = [], {}
        self.begin({})

    def begin(self, rates):
        """Set the rates: {kind: {fate: probability}}."""
        self.rates = rates
        now = kernel.current()
        self._streams = {kind: now.stream(f'faults {kind}') for kind in sorted(rates)}

    def draw(self, kind, what, where='', message=None):
        """The fate of one thing of a kind, or None: all is well.

        message: what is sent, if anything; it names the requests it belongs to
        """
        if where in self.dark and kind in DARK:
            # It is the fault of the nemesis, which is on record.
            return DARK[kind]
        fates = self.rates.get(kind)
        if self.quiet or not fates:
            return None
        fate = self._streams[kind].fate(fates, kind)
        if fate is not None:
            self.note(kind, fate, f'{where} {what}', requests=_requests(message))
        return fate

    def delay_begin(self, where):
        """Delay the beginning of a transaction of work for a request, at times."""
        if is_at_work() and self.draw('begin', 'BEGIN', where):
            seconds = kernel.current().stream('disk').uniform(*SLOW_S)
            self.injected[-1].end += seconds
            kernel.current().sleep(seconds)

    def note(self, kind, fate, where, *, process=None, requests=()):
        """Put on record that something went wrong now; returns the Fault."""
        now = kernel.current()
        fault = Fault(kind, fate, where, process or now.here.name, now.time(), now.time(), requests)
        self.injected.append(fault)
        now.journal.counts[totals.of_fault(kind, fate, where)] += 1
        now.log(f'fault: {kind}: {fate}', where)
        return fault

    def deny(self, fate, where):
        """Put on record that a neighbour refuses a request of the calling thread."""
        self.note('http', fate, where, requests=_requests(None))

    def began(self, kind, fate, process, hosts=()):
        """A process is in trouble from now on; returns the Fault, to be given its end."""
        for former in self.injected:
            # One whose end was killed, too.
            if former.process == process and former.end == math.inf:
                self.ended(former)
        fault = self.note(kind, fate, process, process=process)
        fault.end, fault.hosts = math.inf, tuple(hosts)
        return fault

    def ended(self, fault):
        """It is over."""
        fault.end = kernel.current().time()


def is_at_work():
    """Return whether the calling thread works for a request."""
    return context.get_current() is not None


def _requests(message):
    """Ids of the requests for which the calling thread works, and that a message names."""
    found = dict.fromkeys(REQUEST.findall(str(message)) if message is not None else ())
    current = context.get_current()
    if current is not None:
        found[current.request_id] = None
    return tuple(found)
