"""The image service does not answer requests of daemons for a while, or answers 503."""

import typing

from tests.sim.world import denials

PATH = '/image/'
# How the fates begin of requests that are made again until all is well, and of others.
FATES = SHORT, LONG = 'short stall', 'stall'
# Requests are repeated for longer than so many seconds.
SHORT_S = 12


class Stall(typing.NamedTuple):
    """silent: whether it does not answer; short: whether each request is repeated for longer"""

    silent: bool
    short: bool

    @property
    def fate(self):
        """Return what befalls the requests, as faults name it."""
        return f'{SHORT if self.short else LONG} {"silent" if self.silent else "503"}'

    def meets(self, parts, asking):
        """Return whether it befalls a request. parts: of its URL; asking: name of the process"""
        mine = parts.netloc == denials.ADDRESS and parts.path.startswith(PATH)
        return mine and asking.startswith(denials.ASKING)
