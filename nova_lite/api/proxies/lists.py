"""Pages of proxies' lists, by limit and offset."""

from nova_lite.api import types

PARAMETERS = {'limit': types.multi(types.NON_NEGATIVE), 'offset': types.multi(types.NON_NEGATIVE)}
QUERY = {'2.1': types.query(PARAMETERS)}


def page(req, found):
    """Return the part of a list that a request asks for."""
    most = req.conf.api.max_limit
    first = int(req.param('offset', 0))
    return found[first : first + min(int(req.param('limit', 0)) or most, most)]
