"""Limits of projects and users, and the check of servers against them.

Limits are, from strongest to weakest: the user's in the project, the project's,
the default class's, [quota]. -1 is no limit. What is used is counted, never kept.
"""

from nova_lite import exception
from nova_lite.db.api import instance_mappings
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


def defaults(connection, conf):
    """{resource: limit} for a project that has none of its own."""
    of_class = quotas.of_class(connection, quotas.DEFAULT_CLASS)
    return {name: of_class.get(name, conf.quota[name]) for name in RESOURCES}


def limits(connection, conf, project_id, user_id=None):
    """{resource: limit} of a project, or of one user in it."""
    found = defaults(connection, conf)
    found.update(_known(quotas.of_project(connection, project_id)))
    if user_id is not None:
        found.update(_known(quotas.of_project(connection, project_id, user_id)))
    return found


def _known(found):
    return {name: limit for name, limit in found.items() if name in RESOURCES}


def admit(connection, conf, ctxt, *, wanted, least, vcpus, memory_mb):
    """How many of `wanted` servers of this size may be made; raises OverQuota if < least.

    Counts in the caller's transaction, so that what it inserts is covered.
    """
    project_id, user_id = ctxt.project_id, ctxt.user_id
    scopes = [(limits(connection, conf, project_id), None)]
    own = _known(quotas.of_project(connection, project_id, user_id))
    if own:
        scopes.append(({**scopes[0][0], **own}, user_id))
    size = {'instances': 1, 'cores': vcpus, 'ram': memory_mb}
    allowed = wanted
    for limit, scope_user in scopes:
        used = dict(
            zip(COUNTED, instance_mappings.usage(connection, project_id, scope_user), strict=True)
        )
        fits = min(_room(limit[name], used[name], size[name], wanted) for name in COUNTED)
        allowed = min(allowed, fits)
        if allowed < least:
            raise _over(limit, used, size, least)
    return allowed


def admit_growth(connection, conf, owner, *, vcpus, memory_mb):
    """Raise OverQuota when a server may not grow by so much; shrinking is always allowed.

    owner: has project_id and user_id, of the server and not of who asks
    """
    size = {'cores': max(0, vcpus), 'ram': max(0, memory_mb)}
    if not any(size.values()):
        return
    limit = limits(connection, conf, owner.project_id)
    scopes = [(limit, None)]
    own = _known(quotas.of_project(connection, owner.project_id, owner.user_id))
    if own:
        scopes.append(({**limit, **own}, owner.user_id))
    for limit, scope_user in scopes:
        used = dict(
            zip(
                COUNTED,
                instance_mappings.usage(connection, owner.project_id, scope_user),
                strict=True,
            )
        )
        if any(_room(limit[name], used[name], grown, 1) < 1 for name, grown in size.items()):
            raise _over(limit, used, {'instances': 0, **size}, 1)


def _room(limit, used, size, wanted):
    """How many servers fit below a limit."""
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
