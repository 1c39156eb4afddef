"""Pages of the lists of other services, by limit and offset."""

from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.clients import session

PARAMETERS = {
    'limit': schema_parts.multi(schema_parts.NUMBER),
    'offset': schema_parts.multi(schema_parts.NUMBER),
}
QUERY = {'2.1': schema_parts.query(PARAMETERS)}


def params(req: request.Request) -> dict[str, int]:
    """Return {limit, offset} of a request, for a service that pages by them."""
    most: int = req.conf.api.max_limit
    return {
        'limit': min(int(req.param('limit') or 0) or most, most),
        'offset': paging.offset_of(req),
    }


def page(req: request.Request, found: session.Jsons) -> session.Jsons:
    """Return the page of a list that a request asks for."""
    asked = params(req)
    return found[asked['offset'] :][: asked['limit']]
