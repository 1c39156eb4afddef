"""Pages of proxies' lists, by limit and offset."""

from nova_lite.api import paging
from nova_lite.api import types

PARAMETERS = {'limit': types.multi(types.NUMBER), 'offset': types.multi(types.NUMBER)}
QUERY = {'2.1': types.query(PARAMETERS)}


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
