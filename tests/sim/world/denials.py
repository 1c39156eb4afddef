"""Requests that neighbours refuse for good: by their policies, or for the state of an object."""

import re
import typing

from tests.sim.world import faults

ADDRESS, PLACEMENT = 'simcloud.sim', 'placement.sim'
# Whose requests are refused.
ASKING = ('api', 'super', 'conductor', 'compute', 'scheduler')
STATUSES = (400, 403, 409)
# {kind: (methods, pattern of paths)}
KINDS = {
    'bindings': (('POST', 'PUT'), re.compile(r'/network/v2.0/ports/[^/]+(/bindings.*)?$')),
    'new ports': (('POST',), re.compile(r'/network/v2.0/ports$')),
    'attachments': (('POST', 'PUT'), re.compile(r'/volume/v3/(?:[^/]+/)?attachments')),
    'volume actions': (('POST',), re.compile(r'/volume/v3/(?:[^/]+/)?volumes/[^/]+/action$')),
    'snapshots': (('POST',), re.compile(r'/volume/v3/(?:[^/]+/)?snapshots$')),
    'images': (('POST', 'PUT', 'PATCH'), re.compile(r'/image/v2/images')),
}
# The same of requests that give up what servers have.
RELEASES = {
    'ends of attachments': (('DELETE',), re.compile(r'/volume/v3/(?:[^/]+/)?attachments/')),
    'ends of ports': (('DELETE',), re.compile(r'/network/v2.0/ports/[^/]+$')),
    'ends of allocations': (('DELETE',), re.compile(r'/placement/allocations/')),
}
_EVERY = {**KINDS, **RELEASES}


class Denial(typing.NamedTuple):
    """A kind of requests that a neighbour refuses with a status."""

    kind: str
    status: int

    @property
    def fate(self):
        """Return what befalls the requests, as faults name it."""
        return f'{faults.KEPT if self.kind in RELEASES else faults.DENIED} {self.status}'

    def refuses(self, method, parts, asking):
        """Return whether a request is refused. parts: of its URL; asking: name of the process"""
        methods, paths = _EVERY[self.kind]
        return (
            parts.netloc in (ADDRESS, PLACEMENT)
            and method in methods
            and asking.startswith(ASKING)
            and paths.match(parts.path) is not None
        )
