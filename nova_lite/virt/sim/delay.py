"""How long things take: distributions of seconds.

`draw(rng)` takes a generator of random numbers where `is_random`, else None.
"""

import dataclasses
import math
from typing import ClassVar


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    is_random: ClassVar[bool] = False
    seconds: float

    def draw(self, rng):
        return self.seconds


@dataclasses.dataclass(frozen=True, slots=True)
class Uniform:
    is_random: ClassVar[bool] = True
    low: float
    high: float

    def draw(self, rng):
        return rng.uniform(self.low, self.high)


@dataclasses.dataclass(frozen=True, slots=True)
class Triangular:
    is_random: ClassVar[bool] = True
    low: float
    mode: float
    high: float

    def draw(self, rng):
        return rng.triangular(self.low, self.high, self.mode)


@dataclasses.dataclass(frozen=True, slots=True)
class Lognormal:
    """A long tail to the right; `high` cuts it."""

    is_random: ClassVar[bool] = True
    median: float
    sigma: float
    high: float

    def draw(self, rng):
        return min(self.high, rng.lognormvariate(math.log(self.median), self.sigma))


def read(reader):
    """A distribution from a profile: a number, or {name: {parameter: seconds}}."""
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
