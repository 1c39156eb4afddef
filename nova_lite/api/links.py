"""Links of resources, and of the next page of a list."""

import typing
import urllib.parse

from nova_lite.api import request

Link: typing.TypeAlias = dict[str, str]


def resource(req: request.Request, collection: str, identifier: str) -> list[Link]:
    """Return the self and bookmark links of one thing."""
    version = '/v2' if req.legacy else '/v2.1'
    tail = f'/{collection}/{identifier}'
    return [
        {'rel': 'self', 'href': req.root + version + tail},
        {'rel': 'bookmark', 'href': req.root + tail},
    ]


def bookmark(req: request.Request, collection: str, identifier: str) -> list[Link]:
    """Return the bookmark link alone, as for a server's image and flavor."""
    return [{'rel': 'bookmark', 'href': f'{req.root}/{collection}/{identifier}'}]


def next_page(req: request.Request, marker: str) -> list[Link]:
    """Return the link to the page after the item with this id."""
    kept = [
        (name, value)
        for name, value in urllib.parse.parse_qsl(req.query_string, keep_blank_values=True)
        if name != 'marker'
    ]
    query = urllib.parse.urlencode([*kept, ('marker', marker)])
    return [{'rel': 'next', 'href': f'{req.root}{req.path}?{query}'}]
