"""Labels that clients write on servers, which moves and other actions have to keep."""

import collections
import typing

from tests.sim.workload import codes

# The key of the metadata that clients write.
KEY = 'text'


class Label(typing.NamedTuple):
    """A text on a server that clients may change.

    what: the name of the request; path: below the server's; body, read: functions that return
    the body of the request for a text, and the text of a server, None if it has none
    """

    what: str
    method: str
    path: str
    body: typing.Any
    read: typing.Any


LABELS = {
    'description': Label(
        'update',
        'PUT',
        '',
        body=lambda text: {'server': {'description': text}},
        read=lambda server: server['description'],
    ),
    'metadata': Label(
        'metadata',
        'POST',
        '/metadata',
        body=lambda text: {'metadata': {KEY: text}},
        read=lambda server: server['metadata'].get(KEY),
    ),
    'tag': Label(
        'tags',
        'PUT',
        '/tags',
        body=lambda text: {'tags': [text]},
        read=lambda server: next(iter(server['tags']), None),
    ),
}


class Labels:
    """The labels written on each server."""

    def __init__(self):
        self._written = collections.defaultdict(list)

    def written(self, uuid, kind, text, call):
        """A text was to be written. kind: of LABELS; call: a caller.Call that has ended"""
        if call.code not in codes.REFUSALS:
            self._written[uuid, kind].append((call, text))

    def findings(self, server):
        """Yield what is written on a server and is none of what may have been the last text."""
        for kind, label in LABELS.items():
            asked = self._written[server['id'], kind]
            done = [call.began for call, _text in asked if call.code == 200]
            allowed = done and [text for call, text in asked if call.ended >= max(done)]
            if allowed and label.read(server) not in allowed:
                yield f'{server["id"]} has the {kind} {label.read(server)}, not of {allowed}'
