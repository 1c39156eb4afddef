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


@dataclasses.dataclass(frozen=True, slots=True)
class Uniform:
    low: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return rng.uniform(self.low, self.high)


@dataclasses.dataclass(frozen=True, slots=True)
class Triangular:
    low: float
    mode: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return rng.triangular(self.low, self.high, self.mode)


@dataclasses.dataclass(frozen=True, slots=True)
class Lognormal:
    """A long tail to the right; `high` cuts it."""

    median: float
    sigma: float
    high: float

    def draw(self, rng: runtime.Random) -> float:
        return min(self.high, rng.lognormvariate(math.log(self.median), self.sigma))


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
