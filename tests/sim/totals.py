"""Counts of requested operations and of faults, added up over many histories."""

import collections
import re

ASKED, ACCEPTED, DONE, FAULT = 'asked: ', 'accepted: ', 'done: ', 'fault: '
# Calls of former owners of sagas, by who was called.
LATE = 'late call: '
READS = re.compile(' (GET|HEAD) ')
NEMESIS, HTTP = 'nemesis', ('http', 'placement')


def of_fault(kind, fate, where):
    """Return the name under which a fault is counted. Arguments: see world.faults.Fault"""
    if kind == NEMESIS:
        if fate.startswith(('clock', 'lost bus')):
            fate = ' '.join(fate.split()[:2])
        return f'{FAULT}{fate}'
    if kind in HTTP:
        server = where.partition('.')[0].partition('-')[0]
        change = 'read' if READS.search(f'{where} ') else 'change'
        return f'{FAULT}{server} {change}: {fate}'
    return f'{FAULT}{kind}: {fate}'


class Totals:
    """minimums: {name: how often it has to have happened}"""

    def __init__(self, minimums=None):
        self.counts = collections.Counter()
        self._minimums = minimums or {}

    def add(self, outcome):
        """Add what happened in a history. outcome: a kernel.Outcome"""
        self.counts.update(outcome.counts)

    def lines(self):
        """Yield a table of operations, one of faults, and one of late calls."""
        names = [name.removeprefix(ASKED) for name in self.counts if name.startswith(ASKED)]
        if names:
            yield '%-32s %7s %8s %7s' % ('operation', 'asked', 'accepted', 'done')
        for name in sorted(names):
            numbers = (self.counts[f'{kind}{name}'] for kind in (ASKED, ACCEPTED, DONE))
            yield '%-32s %7d %8d %7d' % (name, *numbers)
        yield from self._table(FAULT, 'fault', 'struck')
        yield from self._table(LATE, 'late call', 'came')

    def _table(self, kind, heading, unit):
        names = sorted(name for name in self.counts if name.startswith(kind))
        if names:
            yield '%-32s %7s' % (heading, unit)
        for name in names:
            yield '%-32s %7d' % (name.removeprefix(kind), self.counts[name])

    def missing(self):
        """Yield what has happened less often than it has to."""
        for name, least in sorted(self._minimums.items()):
            if self.counts[name] < least:
                yield '%s: %d, must be at least %d' % (name, self.counts[name], least)
