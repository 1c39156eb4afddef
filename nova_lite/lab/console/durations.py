"""Parsing of durations in options of commands."""

import argparse
import math
import re

UNITS = {'d': 86400, 'h': 3600, 'm': 60, 's': 1}
DURATION = re.compile(r'(\d+(?:\.\d+)?)([dhms])')


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as 1h30m. Raise ValueError."""
    if DURATION.sub('', text) or not text:
        raise ValueError(f'{text!r} is not a duration such as 90s, 1h30m or 2d')
    return sum(float(number) * UNITS[unit] for number, unit in DURATION.findall(text))


def option(text: str) -> float:
    """Return the seconds in the text of an option. Raise ArgumentTypeError unless they are >= 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of seconds, 0 or more')
    return seconds
