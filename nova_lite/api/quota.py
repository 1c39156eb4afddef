"""The check of servers against the limits of projects and users.

Usage is counted for each request, and stored nowhere.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import keystone_quota
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.conf import quota as options
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks

Scope: typing.TypeAlias = quota_rules.Scope

COUNTED = ('instances', 'cores', 'ram')
# The columns of those that follow from a server's size.
SIZES = {'cores': 'vcpus', 'ram': 'memory_mb'}


def rules(req: request.Request, project_id: str | None = None) -> quota_rules.Rules:
    """Return the rules of a project, the caller's by default.

    This may ask the identity service, so call it before a transaction of the same request does.
    """
    project = (req.ctxt.project_id or '') if project_id is None else project_id
    known: quota_rules.Rules | None = req.quota_rules.get(project)
    if known is None:
        known = _make_rules(req, project)
        req.quota_rules[project] = known
    return known


def _make_rules(req: request.Request, project: str) -> quota_rules.Rules:
    """Return the rules of [quota]driver."""
    driver = req.conf.quota.driver
    if driver == options.UNIFIED:
        return keystone_quota.of(req, project)
    kind = quota_rules.Unlimited if driver == options.NONE else quota_rules.Rules
    return kind(req.conf)


def own_limits(req: request.Request) -> quota_rules.Limits:
    """Return {resource: limit} of the caller in the caller's project."""
    found = rules(req)
    return req.app.api_db.read(found.limits, req.project_id, req.user_id)


def bounds(found: Iterable[Scope], names: Iterable[str]) -> bool:
    """Return whether one of the `scopes` has a limit of one of these resources."""
    return any(limit[name] >= 0 for limit, _user in found for name in names)


def admit(
    connection: sa.Connection,
    by: quota_rules.Rules,
    found: Sequence[Scope],
    project_id: str,
    *,
    wanted: int,
    least: int,
    size: Mapping[str, int],
) -> int:
    """Return how many of `wanted` servers of this size may be made. Raise OverQuota if < least.

    Counts in the caller's transaction, so that what it inserts is covered.

    size: {'vcpus', 'memory_mb'}
    by, found: the rules of the project, and their `scopes` for the user
    """
    amounts = {'instances': 1, **{each: size[name] for each, name in SIZES.items()}}
    allowed = wanted
    for limit, user_id in found:
        if not bounds([(limit, user_id)], COUNTED):
            continue
        used = _used(connection, by, project_id, user_id)
        fits = min(_room(limit[name], used[name], amounts[name], wanted) for name in COUNTED)
        allowed = min(allowed, fits)
        if allowed < least:
            raise _over(by, limit, used, amounts, least=least)
    return allowed


def size_of(flavor: Mapping[str, typing.Any]) -> dict[str, int]:
    """Return {'vcpus', 'memory_mb'} of a flavor, as servers keep theirs; see `Rules.size_of`."""
    return {name: flavor[name] for name in SIZES.values()}


def admit_move(
    connection: sa.Connection, by: quota_rules.Rules, server: rows.Row, size: Mapping[str, int]
) -> None:
    """Do as `admit_growth` in the transaction that records the saga which changes the size.

    It waits for others that add to what the project uses, and has them wait.
    """
    found = by.scopes(connection, server.project_id, server.user_id)
    if bounds(found, SIZES):
        quota_locks.hold(connection, server.project_id)
    _admit_growth(connection, by, found, server, size)


def admit_growth(
    connection: sa.Connection, by: quota_rules.Rules, server: rows.Row, size: Mapping[str, int]
) -> None:
    """Raise OverQuota when a server may not count for `size` ({'vcpus', 'memory_mb'}).

    Growing alone is refused: a project above its limits may shrink its servers. The
    limits are those of the server's owner, not of who asks.
    """
    found = by.scopes(connection, server.project_id, server.user_id)
    _admit_growth(connection, by, found, server, size)


def _admit_growth(
    connection: sa.Connection,
    by: quota_rules.Rules,
    found: Sequence[Scope],
    server: rows.Row,
    size: Mapping[str, int],
) -> None:
    mapping = instance_mappings.get(connection, server.uuid)
    size_now = instance_mappings.counted(connection, server.uuid)
    if size_now is None:
        return
    of_own, of_larger = by.uncounted_of(connection, server.uuid)
    counted = {'vcpus': size_now['vcpus'] - of_larger, 'memory_mb': size_now['memory_mb']}
    own = {'vcpus': mapping.vcpus - of_own, 'memory_mb': mapping.memory_mb}
    grown = {resource: max(0, size[name] - own[name]) for resource, name in SIZES.items()}
    if not any(grown.values()):
        return
    for limit, user_id in found:
        used = _used(connection, by, server.project_id, user_id)
        # Without what a saga of this server adds, be it recorded already or not.
        for resource, name in SIZES.items():
            used[resource] -= counted[name] - own[name]
        if any(_room(limit[name], used[name], more, 1) < 1 for name, more in grown.items()):
            raise _over(by, limit, used, {'instances': 0, **grown}, least=1)


def _used(
    connection: sa.Connection, by: quota_rules.Rules, project_id: str, user_id: str | None
) -> dict[str, int]:
    """Return {resource: what counts} of a project, or of one user in it."""
    found = instance_mappings.usage(connection, project_id, user_id)
    used = dict(zip(COUNTED, found, strict=True))
    used['cores'] -= by.uncounted(connection, project_id)
    return used


def _room(limit: int, used: int, size: int, wanted: int) -> int:
    """Return how many servers fit below a limit."""
    if limit < 0 or size == 0:
        return wanted
    return max(limit - used, 0) // size


def _over(
    by: quota_rules.Rules,
    limit: Mapping[str, int],
    used: Mapping[str, int],
    size: Mapping[str, int],
    *,
    least: int,
) -> exception.OverQuota:
    return by.refusal(
        [
            quota_rules.Excess(name, size[name] * least, used[name], limit[name])
            for name in COUNTED
            if _room(limit[name], used[name], size[name], least) < least
        ]
    )
