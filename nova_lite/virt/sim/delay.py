"""Delays: distributions of seconds.

Those that are not `Fixed` draw from a generator of random numbers.
"""

import dataclasses
import math

from nova_lite import runtime
from nova_lite.virt.sim import strict_yaml


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    seconds: float

    @property
    def mean(self) -> float:
        return self.seconds


@dataclasses.dataclass(frozen=True, slots=True)
class Uniform:
    low: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return rng.uniform(self.low, self.high)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2


@dataclasses.dataclass(frozen=True, slots=True)
class Triangular:
    low: float
    mode: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return rng.triangular(self.low, self.high, self.mode)

    @property
    def mean(self) -> float:
        return (self.low + self.mode + self.high) / 3


@dataclasses.dataclass(frozen=True, slots=True)
class Lognormal:
    """A long tail to the right; `high` cuts it."""

    median: float
    sigma: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return min(self.high, rng.lognormvariate(math.log(self.median), self.sigma))

    @property
    def mean(self) -> float:
        """Return the mean of the draws: that of the distribution below `high`, and `high` above."""
        cut = math.log(self.high / self.median)
        if not self.sigma:
            return min(self.median, self.high)
        below = self.median * math.exp(self.sigma**2 / 2) * _normal(cut / self.sigma - self.sigma)
        return below + self.high * (1 - _normal(cut / self.sigma))


def _normal(value: float) -> float:
    """Return the share of a normal distribution that is below a value."""
    return (1 + math.erf(value / math.sqrt(2))) / 2


Distribution = Fixed | Uniform | Triangular | Lognormal


def read(reader: strict_yaml.Reader) -> Distribution:
    """Return a distribution from a profile: a number, or {name: {parameter: seconds}}."""
    if reader.is_number():
        return Fixed(reader.number())
    name, parameters = reader.only_item(('fixed', 'uniform', 'triangular', 'lognormal'))
    if name == 'fixed':
        return Fixed(parameters.number())
    if name == 'uniform':
        parameters.mapping(required=('low', 'high'))
        low, high = (parameters.at(key).number() for key in ('low', 'high'))
        parameters.expect(low <= high, 'low must not exceed high')
        return Uniform(low, high)
    if name == 'triangular':
        parameters.mapping(required=('low', 'mode', 'high'))
        low, mode, high = (parameters.at(key).number() for key in ('low', 'mode', 'high'))
        parameters.expect(low <= mode <= high, 'low <= mode <= high must hold')
        return Triangular(low, mode, high)
    parameters.mapping(required=('median', 'sigma', 'high'))
    median = parameters.at('median').number()
    high = parameters.at('high').number()
    parameters.expect(0 < median <= high, '0 < median <= high must hold')
    return Lognormal(median, parameters.at('sigma').number(maximum=10), high)
