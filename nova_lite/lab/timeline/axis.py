"""The time axis of a drawing: linear, except while no super-conductor ran the saga.

Such a gap may be a hundred times as long as all steps together. It gets a fixed share of the axis.
"""

from nova_lite.lab.timeline import story as story_module

BROKEN_SHARE = 0.16


class Axis:
    """Maps seconds since the request to 0..1."""

    def __init__(self, story: story_module.Story) -> None:
        self._whole = story.lasted or 1.0
        gaps = [
            (bar.begin, bar.end)
            for bar in story.bars
            if bar.is_idle and bar.lasted > BROKEN_SHARE * self._whole
        ]
        self.gaps = gaps
        lost = sum(end - begin for begin, end in gaps)
        self._kept = max(self._whole - lost, self._whole / 100)
        self._share = min(BROKEN_SHARE * len(gaps), 0.5)
        self._each = self._share / len(gaps) if gaps else 0.0

    def at(self, seconds: float) -> float:
        """Return the position of a moment on the axis, 0 to 1. seconds: since the request"""
        kept, broken = seconds, 0.0
        for begin, end in self.gaps:
            passed = min(max(seconds - begin, 0.0), end - begin)
            kept -= passed
            broken += self._each * passed / (end - begin)
        return min(1.0, max(0.0, kept) / self._kept * (1 - self._share) + broken)

    def ticks(self, count: int = 5) -> list[float]:
        """Return round moments outside of the gaps. count: approximate number of moments"""
        step = _round(self._kept / count)
        moments = [step * number for number in range(int(self._whole / step) + 1)]
        return [
            moment
            for moment in moments
            if not any(begin < moment < end for begin, end in self.gaps)
        ]


def _round(seconds: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not less than `seconds`."""
    power = 1.0
    while power > seconds:
        power /= 10
    while power * 10 <= seconds:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= seconds)
