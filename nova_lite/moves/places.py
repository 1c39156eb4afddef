"""Where steps of sagas take effect: which daemon or service, and at which end of a move.

A server that does not move is at its source.
"""

import typing

SOURCE, DEST = 'source', 'destination'


class Place(typing.NamedTuple):
    """daemon: or service; end: SOURCE or DEST, None for what is in no cell"""

    daemon: str
    end: str | None = None


SOURCE_RECORDS, DEST_RECORDS = Place('cell database', SOURCE), Place('cell database', DEST)
SOURCE_HOST, DEST_HOST = Place('compute', SOURCE), Place('compute', DEST)
API_DATABASE = Place('API database')
SCHEDULER, PLACEMENT = Place('scheduler'), Place('placement')
IMAGES, NETWORK, VOLUMES = (
    Place('image service'),
    Place('network service'),
    Place('volume service'),
)
