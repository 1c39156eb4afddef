"""Durations of many decisions in classes of 5 %, so that the memory does not grow with them."""

import collections
import math

BASE = math.log(1.05)
SHORTEST_S = 1e-6


class Latencies:
    """A histogram. classes: {number of a class: count}; total_s: the sum of the durations"""

    def __init__(self) -> None:
        self.classes: collections.Counter[int] = collections.Counter()
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.classes[round(math.log(max(seconds, SHORTEST_S)) / BASE)] += 1
        self.total_s += seconds

    def percentile(self, share: float) -> float:
        """Return the seconds that `share` (0 to 1) of the durations do not exceed."""
        wanted = share * self.classes.total()
        passed = 0
        for number, count in sorted(self.classes.items()):
            passed += count
            if passed >= wanted:
                return math.exp(number * BASE)
        return 0.0

    def milliseconds(self) -> list[list[float]]:
        """Return [[milliseconds, count], ...], the shortest first."""
        return [
            [1000 * math.exp(number * BASE), count]
            for number, count in sorted(self.classes.items())
        ]

    def stored(self) -> list[list[float]]:
        """Return the histogram as plain values, for `restore`."""
        classes: list[list[float]] = [[*each] for each in self.classes.items()]
        return [[self.total_s, 0], *classes]

    def restore(self, values: list[list[float]]) -> None:
        """Add the durations of another histogram. values: the result of its `stored`"""
        (total_s, _), *classes = values
        self.total_s += total_s
        for number, count in classes:
            self.classes[int(number)] += int(count)
