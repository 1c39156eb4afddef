"""Limits of projects and users, and the check of servers against them.

Limits are, from strongest to weakest: the user's in the project, the project's,
the default class's, [quota]. -1 is no limit. Usage is counted for each request, and stored nowhere.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import quotas

RESOURCES = (
    'instances',
    'cores',
    'ram',
    'metadata_items',
    'injected_files',
    'injected_file_content_bytes',
    'injected_file_path_length',
    'key_pairs',
    'server_groups',
    'server_group_members',
)
# Limits by resource, and the user whose own limits they are; None for those of the project.
Scope: typing.TypeAlias = tuple[dict[str, int], str | None]

COUNTED = ('instances', 'cores', 'ram')
# The columns of those that follow from a server's size.
SIZES = {'cores': 'vcpus', 'ram': 'memory_mb'}


def defaults(connection: sa.Connection, conf: cfg.ConfigOpts) -> dict[str, int]:
    """Return {resource: limit} for a project that has none of its own."""
    of_class = quotas.of_class(connection, quotas.DEFAULT_CLASS)
    return {name: of_class.get(name, conf.quota[name]) for name in RESOURCES}


def limits(
    connection: sa.Connection, conf: cfg.ConfigOpts, project_id: str, user_id: str | None = None
) -> dict[str, int]:
    """Return {resource: limit} of a project, or of one user in it."""
    if user_id is not None:
        of_user, _user = scopes(connection, conf, project_id, user_id)[-1]
        return of_user
    return {**defaults(connection, conf), **_known(quotas.of_project(connection, project_id))}


def _known(found: Mapping[str, int]) -> dict[str, int]:
    return {name: limit for name, limit in found.items() if name in RESOURCES}


def bounds(found: Iterable[Scope], names: Iterable[str]) -> bool:
    """Return whether one of the `scopes` has a limit of one of these resources."""
    return any(limit[name] >= 0 for limit, _user in found for name in names)


def admit(
    connection: sa.Connection,
    found: Sequence[Scope],
    project_id: str,
    *,
    wanted: int,
    least: int,
    vcpus: int,
    memory_mb: int,
) -> int:
    """Return how many of `wanted` servers of this size may be made. Raise OverQuota if < least.

    Counts in the caller's transaction, so that what it inserts is covered.

    found: the `scopes` of who makes them
    """
    size = {'instances': 1, 'cores': vcpus, 'ram': memory_mb}
    allowed = wanted
    for limit, user_id in found:
        used = _used(connection, project_id, user_id)
        fits = min(_room(limit[name], used[name], size[name], wanted) for name in COUNTED)
        allowed = min(allowed, fits)
        if allowed < least:
            raise _over(limit, used, size, least)
    return allowed


def size_of(flavor: Mapping[str, typing.Any]) -> dict[str, int]:
    """Return {'vcpus', 'memory_mb'} of a flavor, as servers keep theirs."""
    return {name: flavor[name] for name in SIZES.values()}


def admit_move(
    connection: sa.Connection, conf: cfg.ConfigOpts, server: rows.Row, size: Mapping[str, int]
) -> None:
    """Do as `admit_growth` in the transaction that records the saga which changes the size.

    It waits for others that add to what the project uses, and has them wait.
    """
    found = scopes(connection, conf, server.project_id, server.user_id)
    if bounds(found, SIZES):
        quota_locks.hold(connection, server.project_id)
    _admit_growth(connection, found, server, size)


def admit_growth(
    connection: sa.Connection, conf: cfg.ConfigOpts, server: rows.Row, size: Mapping[str, int]
) -> None:
    """Raise OverQuota when a server may not count for `size` ({'vcpus', 'memory_mb'}).

    Growing alone is refused: a project above its limits may shrink its servers. The
    limits are those of the server's owner, not of who asks.
    """
    found = scopes(connection, conf, server.project_id, server.user_id)
    _admit_growth(connection, found, server, size)


def _admit_growth(
    connection: sa.Connection, found: Sequence[Scope], server: rows.Row, size: Mapping[str, int]
) -> None:
    mapping = instance_mappings.get(connection, server.uuid)
    size_now = instance_mappings.counted(connection, server.uuid)
    if size_now is None:
        return
    counted = {'vcpus': size_now['vcpus'], 'memory_mb': size_now['memory_mb']}
    grown = {
        resource: max(0, size[name] - getattr(mapping, name)) for resource, name in SIZES.items()
    }
    if not any(grown.values()):
        return
    for limit, user_id in found:
        used = _used(connection, server.project_id, user_id)
        # Without what a saga of this server adds, be it recorded already or not.
        for resource, name in SIZES.items():
            used[resource] -= counted[name] - getattr(mapping, name)
        if any(_room(limit[name], used[name], more, 1) < 1 for name, more in grown.items()):
            raise _over(limit, used, {'instances': 0, **grown}, 1)


def scopes(
    connection: sa.Connection, conf: cfg.ConfigOpts, project_id: str, user_id: str
) -> list[Scope]:
    """Return [({resource: limit}, user id or None)]: the project's, and the user's own in it."""
    of_project, of_user = quotas.of_project_and_user(connection, project_id, user_id)
    limit = {**defaults(connection, conf), **_known(of_project)}
    own = _known(of_user)
    return [(limit, None), ({**limit, **own}, user_id)] if own else [(limit, None)]


def _used(connection: sa.Connection, project_id: str, user_id: str | None) -> dict[str, int]:
    """Return {resource: what counts} of a project, or of one user in it."""
    found = instance_mappings.usage(connection, project_id, user_id)
    return dict(zip(COUNTED, found, strict=True))


def _room(limit: int, used: int, size: int, wanted: int) -> int:
    """Return how many servers fit below a limit."""
    if limit < 0 or size == 0:
        return wanted
    return max(limit - used, 0) // size


def _over(
    limit: Mapping[str, int], used: Mapping[str, int], size: Mapping[str, int], least: int
) -> exception.OverQuota:
    over = [name for name in COUNTED if _room(limit[name], used[name], size[name], least) < least]
    return exception.OverQuota(
        resource=', '.join(over),
        requested=', '.join(str(size[name] * least) for name in over),
        used=', '.join(str(used[name]) for name in over),
        limit=', '.join(str(limit[name]) for name in over),
    )


def require(limit: int, count: int, resource: str) -> None:
    """Raise OverQuota when `count` of something is above its limit."""
    if 0 <= limit < count:
        raise exception.OverQuota(resource=resource, requested=count, used=0, limit=limit)
