"""limit and marker of lists, for all resources alike.

Source: reference/nova/api-surface 1.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

from nova_lite import exception
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import request

T = typing.TypeVar('T')
MOST = 0x7FFFFFFF


def limit_of(req: request.Request) -> int:
    """Return how many items the page may have: the requested number, at most [api]max_limit."""
    most: int = req.conf.api.max_limit
    asked = req.param('limit')
    return min(int(asked), most) if asked else most


def offset_of(req: request.Request) -> int:
    """Return how many items precede the page: no more than a database counts."""
    return min(int(req.param('offset') or 0), MOST)


def page(
    req: request.Request,
    items: Sequence[T],
    key: Callable[[T], str | int],
    other_key: Callable[[T], str | int] | None = None,
) -> tuple[Sequence[T], str | int | None]:
    """Return (items of the page, id to link the next page with or None).

    items: all there are, in order; key(item): its id, which markers name
    other_key(item): another id, which markers may name as well
    Raise MarkerNotFound.
    """
    marker = req.param('marker')
    start = 0
    if marker is not None:
        start = _after(items, (key, other_key or key), marker)
    limit = limit_of(req)
    chosen = items[start : start + limit]
    return chosen, key(chosen[-1]) if is_full(req, chosen, limit) else None


def with_next(
    req: request.Request, name: str, shown: list[operation.Body], marker: str | int | None
) -> operation.Body:
    """Return the answer of a list: {name: shown} with the next page's link, if there is one."""
    answer = {name: shown}
    if marker is not None:
        answer[f'{name}_links'] = links.next_page(req, str(marker))
    return answer


def _after(items: Sequence[T], keys: Sequence[Callable[[T], str | int]], marker: str) -> int:
    for position, item in enumerate(items):
        if marker in [str(key(item)) for key in keys]:
            return position + 1
    raise exception.MarkerNotFound(marker=marker)


def is_full(req: request.Request, chosen: Sequence[object], limit: int) -> bool:
    """Return whether the page is full, so that it needs a link to the next one."""
    asked = req.param('limit')
    return (
        bool(chosen)
        and len(chosen) == limit
        and (asked and int(asked) > 0 or limit == req.conf.api.max_limit)
    )
