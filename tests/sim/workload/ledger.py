"""What clients asked for and were told, and what of it is not as it should be."""

import collections

from tests.sim import kernel

# A request that began so many seconds after a fault may still meet what it left behind.
AFTERMATH_S = 120


class Ledger:
    """faults: a faults.Faults

    counts: {what: {code: number}}; violations: [text, ...]
    """

    def __init__(self, faults):
        self._faults = faults
        self.counts = collections.defaultdict(collections.Counter)
        self.violations = []
        # Dictionaries, since a set has no order of its own.
        self._accepted, self._ending, self.gone = {}, {}, {}

    def violation(self, text):
        """Something is not as it should be: the history ends here."""
        self.violations.append(text)
        kernel.current().fail(text)

    def answered(self, who, what, request, *, code, text, began):
        """A client was answered; code 0: it was not."""
        self.counts[what][code] += 1
        if (code == 0 or code >= 500) and not self.is_explained(began):
            self.violation(f'{who} {what}: {request}: unexplained {code}: {text[:500]}')

    def is_explained(self, since):
        """Whether something that began then may meet a fault."""
        return any(at > since - AFTERMATH_S for at, *_what in self._faults.injected[-1:])

    def accepted(self, uuid, name):
        """A server was accepted."""
        self._accepted.setdefault(uuid, name)

    def ending(self, uuid):
        """Somebody is about to ask that a server be deleted."""
        self._ending[uuid] = True

    def standing(self):
        """Ids of accepted servers that nobody has asked to delete."""
        return [uuid for uuid in self._accepted if uuid not in self._ending]
