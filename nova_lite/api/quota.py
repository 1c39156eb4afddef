"""Limits of projects and users, and the check of servers against them.

Limits are, from strongest to weakest: the user's in the project, the project's,
the default class's, [quota]. -1 is no limit. What is used is counted, never kept.
"""

from nova_lite import exception
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
COUNTED = ('instances', 'cores', 'ram')
# The columns of those that follow from a server's size.
SIZES = {'cores': 'vcpus', 'ram': 'memory_mb'}


def defaults(connection, conf):
    """Return {resource: limit} for a project that has none of its own."""
    of_class = quotas.of_class(connection, quotas.DEFAULT_CLASS)
    return {name: of_class.get(name, conf.quota[name]) for name in RESOURCES}


def limits(connection, conf, project_id, user_id=None):
    """Return {resource: limit} of a project, or of one user in it."""
    if user_id is not None:
        of_user, _user = scopes(connection, conf, project_id, user_id)[-1]
        return of_user
    return {**defaults(connection, conf), **_known(quotas.of_project(connection, project_id))}


def _known(found):
    return {name: limit for name, limit in found.items() if name in RESOURCES}


def bounds(found, names):
    """Return whether one of the `scopes` has a limit of one of these resources."""
    return any(limit[name] >= 0 for limit, _user in found for name in names)


def admit(connection, found, project_id, *, wanted, least, vcpus, memory_mb):
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


def size_of(flavor):
    """Return {'vcpus', 'memory_mb'} of a flavor, as servers keep theirs."""
    return {name: flavor[name] for name in SIZES.values()}


def admit_move(connection, conf, server, size):
    """Do as `admit_growth` in the transaction that records the saga which changes the size.

    It waits for others that add to what the project uses, and has them wait.
    """
    found = scopes(connection, conf, server.project_id, server.user_id)
    if bounds(found, SIZES):
        quota_locks.hold(connection, server.project_id)
    _admit_growth(connection, found, server, size)


def admit_growth(connection, conf, server, size):
    """Raise OverQuota when a server may not count for `size` ({'vcpus', 'memory_mb'}).

    Growing alone is refused: a project above its limits may shrink its servers. The
    limits are those of the server's owner, not of who asks.
    """
    found = scopes(connection, conf, server.project_id, server.user_id)
    _admit_growth(connection, found, server, size)


def _admit_growth(connection, found, server, size):
    mapping = instance_mappings.get(connection, server.uuid)
    counted = instance_mappings.counted(connection, server.uuid)
    if counted is None:
        return
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


def scopes(connection, conf, project_id, user_id):
    """Return [({resource: limit}, user id or None)]: the project's, and the user's own in it."""
    of_project, of_user = quotas.of_project_and_user(connection, project_id, user_id)
    limit = {**defaults(connection, conf), **_known(of_project)}
    own = _known(of_user)
    return [(limit, None), ({**limit, **own}, user_id)] if own else [(limit, None)]


def _used(connection, project_id, user_id):
    """Return {resource: what counts} of a project, or of one user in it."""
    found = instance_mappings.usage(connection, project_id, user_id)
    return dict(zip(COUNTED, found, strict=True))


def _room(limit, used, size, wanted):
    """Return how many servers fit below a limit."""
    if limit < 0 or size == 0:
        return wanted
    return max(limit - used, 0) // size


def _over(limit, used, size, least):
    over = [name for name in COUNTED if _room(limit[name], used[name], size[name], least) < least]
    return exception.OverQuota(
        resource=', '.join(over),
        requested=', '.join(str(size[name] * least) for name in over),
        used=', '.join(str(used[name]) for name in over),
        limit=', '.join(str(limit[name]) for name in over),
    )


def require(limit, count, resource):
    """Raise OverQuota when `count` of something is above its limit."""
    if 0 <= limit < count:
        raise exception.OverQuota(resource=resource, requested=count, used=0, limit=limit)
