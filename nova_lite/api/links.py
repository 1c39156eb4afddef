"""Links of resources, and of the next page of a list."""

import urllib.parse


def resource(req, collection, identifier):
    """Return the self and bookmark links of one thing."""
    version = '/v2' if req.legacy else '/v2.1'
    tail = f'/{collection}/{identifier}'
    return [
        {'rel': 'self', 'href': req.root + version + tail},
        {'rel': 'bookmark', 'href': req.root + tail},
    ]


def bookmark(req, collection, identifier):
    """Return the bookmark link alone, as for a server's image and flavor."""
    return [{'rel': 'bookmark', 'href': f'{req.root}/{collection}/{identifier}'}]


def next_page(req, marker):
    """Return the link to the page after the item with this id."""
    kept = [
        (name, value)
        for name, value in urllib.parse.parse_qsl(req.query_string, keep_blank_values=True)
        if name != 'marker'
    ]
    query = urllib.parse.urlencode([*kept, ('marker', marker)])
    return [{'rel': 'next', 'href': f'{req.root}{req.path}?{query}'}]
