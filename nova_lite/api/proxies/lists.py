"""Pages of proxies' lists, by limit and offset."""

from nova_lite.api import paging
from nova_lite.api import schema_parts

PARAMETERS = {
    'limit': schema_parts.multi(schema_parts.NUMBER),
    'offset': schema_parts.multi(schema_parts.NUMBER),
}
QUERY = {'2.1': schema_parts.query(PARAMETERS)}


def params(req):
    """Return the parameters of a service that pages by limit and offset itself."""
    most = req.conf.api.max_limit
    return {
        'limit': min(int(req.param('limit', 0)) or most, most),
        'offset': paging.offset_of(req),
    }


def page(req, found):
    """Return the part of a list that a request asks for."""
    asked = params(req)
    return found[asked['offset'] :][: asked['limit']]
