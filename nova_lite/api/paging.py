"""limit and marker of lists, for all resources alike.

Source: reference/nova/api-surface 1.
"""

from nova_lite import exception
from nova_lite.api import links


def limit_of(req):
    """Return how many items the page may have: what was asked, at most [api]max_limit."""
    most = req.conf.api.max_limit
    asked = req.param('limit')
    return most if asked in (None, '') else min(int(asked), most)


def page(req, items, key):
    """Return (items of the page, id to link the next page with or None).

    items: all there are, in order; key(item): its id, which markers name
    Raise MarkerNotFound.
    """
    marker = req.param('marker')
    start = 0
    if marker is not None:
        start = _after(items, key, marker)
    limit = limit_of(req)
    chosen = items[start : start + limit]
    return chosen, key(chosen[-1]) if is_full(req, chosen, limit) else None


def with_next(req, name, shown, marker):
    """Return the answer of a list: {name: shown} with the next page's link, if there is one."""
    answer = {name: shown}
    if marker is not None:
        answer[f'{name}_links'] = links.next_page(req, marker)
    return answer


def _after(items, key, marker):
    for position, item in enumerate(items):
        if str(key(item)) == marker:
            return position + 1
    raise exception.MarkerNotFound(marker=marker)


def is_full(req, chosen, limit):
    """Return whether the page is full, so that it needs a link to the next one."""
    asked = req.param('limit')
    return (
        bool(chosen)
        and len(chosen) == limit
        and (asked not in (None, '') and int(asked) > 0 or limit == req.conf.api.max_limit)
    )
