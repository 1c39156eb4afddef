"""Named sequences of choices, each derived from the seed and its own name.

A new choice in one stream does not move the choices of another. Every choice made by
`happens` and `pick` has a number, and a run can be given choices to suppress, which is how a
failing history is reduced.
"""

import hashlib
import random


def derived(seed, name):
    """Return 64 bits that follow from `seed` and `name`, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f'{seed}/{name}'.encode()).digest()[:8])


class Stream(random.Random):
    """A generator of choices that follow from the seed and the stream's name."""

    def __init__(self, seed, name, suppressed=frozenset()):
        super().__init__(derived(seed, name))
        self.name = name
        self.reset(seed, suppressed)

    def reset(self, seed, suppressed):
        """Begin again with another seed."""
        self.seed(derived(seed, self.name))
        self.made = 0
        self.effective = []
        self._suppressed = suppressed

    def happens(self, probability, what=''):
        """Return whether something happens that does so with `probability`."""
        return self._effective(self.random() < probability, what)

    def pick(self, options, what=''):
        """Return one of `options`; the first one is the harmless one."""
        chosen = int(self.random() * len(options))
        return options[chosen if self._effective(chosen > 0, what) else 0]

    def fate(self, rates, what=''):
        """Return one of {fate: probability}; None, the harmless one, for the rest."""
        chance = self.random()
        for fate, rate in rates.items():
            if chance < rate:
                return fate if self._effective(True, f'{what}: {fate}') else None
            chance -= rate
        self._effective(False, what)
        return None

    def _effective(self, effective, what):
        number, self.made = self.made, self.made + 1
        if not effective or (self.name, number) in self._suppressed:
            return False
        self.effective.append((number, what))
        return True


class Streams:
    """The streams of one history, made when they are first asked for."""

    def __init__(self, seed, suppressed=()):
        self._made = {}
        self.reseed(seed, suppressed)

    def __getitem__(self, name):
        stream = self._made.get(name)
        if stream is None:
            stream = self._made[name] = Stream(self._seed, name, self._suppressed)
        return stream

    def reseed(self, seed, suppressed=()):
        """Restart all streams, as those of another history."""
        self._seed = seed
        self._suppressed = frozenset((name, number) for name, number in suppressed)
        for stream in self._made.values():
            stream.reset(seed, self._suppressed)

    def effective(self):
        """Return (stream, number, what) of each numbered choice that had an effect."""
        return [
            (name, number, what)
            for name, stream in sorted(self._made.items())
            for number, what in stream.effective
        ]
