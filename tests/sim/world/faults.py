"""What goes wrong, drawn from the seed, and on record for the oracle."""

from tests.sim import kernel


class Faults:
    """rates: {kind: {fate: probability}}. Nothing goes wrong while `quiet`.

    injected: [(virtual time, kind, fate, where), ...]
    """

    def __init__(self, rates):
        self.rates = rates
        self.quiet = True
        self.injected = []
        self._rng = None

    def draw(self, kind, what, where=''):
        """The fate of one thing of a kind, or None: all is well."""
        fates = self.rates.get(kind)
        if self.quiet or not fates:
            return None
        if self._rng is None:
            self._rng = kernel.current().stream('faults')
        chance = self._rng.random()
        for fate, rate in fates.items():
            if chance < rate:
                self.note(kind, fate, f'{where} {what}')
                return fate
            chance -= rate
        return None

    def note(self, kind, fate, where):
        """Put on record that something went wrong."""
        now = kernel.current()
        self.injected.append((now.time(), kind, fate, where))
        now.log(f'fault: {kind}: {fate}', where)
