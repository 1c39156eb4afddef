"""Requests that neighbours refuse for good: by their policies, or for the state of an object."""

import re
import typing

ADDRESS = 'simcloud.sim'
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


class Denial(typing.NamedTuple):
    """A kind of requests that a neighbour refuses with a status."""

    kind: str
    status: int

    def refuses(self, method, parts, asking):
        """Return whether a request is refused. parts: of its URL; asking: name of the process"""
        methods, paths = KINDS[self.kind]
        return (
            parts.netloc == ADDRESS
            and method in methods
            and asking.startswith(ASKING)
            and paths.match(parts.path) is not None
        )
