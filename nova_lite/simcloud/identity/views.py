"""How identity resources look on the wire."""


def links(req, path):
    """The links of one resource at `path` under /identity/v3."""
    return {'self': f'{req.context.public_url}/identity/v3/{path}'}


def collection(req, key, items):
    """A whole list; Keystone pages nothing."""
    return {key: items, 'links': {'self': req.uri, 'next': None, 'previous': None}}


def truncated(items, req):
    """`items` cut to the request's limit."""
    limit = req.get_param_as_int('limit', min_value=1)
    return items[:limit] if limit else items
