"""Quota sets: limits of projects, and of users in them.

Source: reference/nova/api-surface 2.5.
"""

import collections
from collections.abc import Mapping
import math

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import projects
from nova_lite.api import quota
from nova_lite.api import quota_names
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import quotas as rules
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import keypairs
from nova_lite.db.api import quotas
from nova_lite.db.api import server_groups

ONE = '/os-quota-sets/{target_id}'
OF_USER = {'user_id': schema_parts.multi()}
QUERY = {'2.1': schema_parts.query(OF_USER), '2.75': schema_parts.query(OF_USER, strict=True)}
UPDATE = {
    f'2.{minor}': schema_parts.body(
        'quota_set', quota_names.schema(quota_names.of_sets(minor), force=schema_parts.BOOLEAN)
    )
    for minor in (1, 36, 57)
}


class LimitTooLow(exception.Invalid):
    msg = (
        'Quota limit %(limit)s for %(resource)s must be greater than or equal to already used '
        'and reserved %(minimum)s.'
    )


class LimitTooHigh(exception.Invalid):
    msg = 'Quota limit %(limit)s for %(resource)s must be less than or equal to %(maximum)s.'


# ---- operations -------------------------------------------------------------


@operation.operation('GET', ONE, query=QUERY, faults=(400, 403))
def show(req: request.Request) -> operation.Result:
    """Limits of a project, or of one user in it."""
    project_id = _project(req, rules.SHOW)
    return _answer(req, project_id, _limits(req, project_id))


@operation.operation('GET', f'{ONE}/detail', query=QUERY, faults=(400, 403))
def show_in_detail(req: request.Request) -> operation.Result:
    """Show the limits of a project with its usage."""
    project_id = _project(req, rules.DETAIL)
    used = req.app.api_db.read(usage, project_id, _user(req))
    limits = _limits(req, project_id)
    shown = {
        name: {'limit': limits.get(known, -1), 'in_use': used.get(known, 0), 'reserved': 0}
        for name, known in _names(req).items()
    }
    return {'quota_set': {'id': project_id, **shown}}


@operation.operation('GET', f'{ONE}/defaults', query=operation.ANY_QUERY, faults=(400, 403))
def show_defaults(req: request.Request) -> operation.Result:
    """Show the limits of a project without limits of its own."""
    project_id = _project(req, rules.DEFAULTS)
    return _answer(req, project_id, req.app.api_db.read(quota.rules(req, project_id).defaults))


@operation.operation('PUT', ONE, query=QUERY, body=UPDATE, faults=(400, 403))
def update(req: request.Request) -> operation.Result:
    """Set limits. Limits below the usage need `force`."""
    project_id = _project(req, rules.UPDATE)
    rules_of_project = quota.rules(req, project_id)
    rules_of_project.require_settable()
    wanted = quota_names.given(_names(req), req.content)
    forced = schema_parts.is_true(req.content.get('force', False))
    limits = req.app.api_db.write(
        _set, rules_of_project, wanted, project_id=project_id, user_id=_user(req), forced=forced
    )
    return {'quota_set': quota_names.shown(_names(req), limits)}


@operation.operation('DELETE', ONE, query=QUERY, success=202, faults=(400, 403))
def delete(req: request.Request) -> None:
    """Go back to the defaults."""
    project_id = _authorized(req, rules.DELETE)
    quota.rules(req, project_id).require_settable()
    req.app.api_db.write(quotas.clear, project_id, _user(req))


# ---- parts ------------------------------------------------------------------


def _project(req: request.Request, rule: str) -> str:
    project_id = _authorized(req, rule)
    projects.require(req, project_id)
    return project_id


def _authorized(req: request.Request, rule: str) -> str:
    project_id = req.args['target_id']
    req.authorize(rule, {'project_id': project_id})
    if len(project_id) > 255:
        raise exception.Invalid('Project ID is too long')
    return project_id


def _user(req: request.Request) -> str | None:
    """Return the user that the query names, or None. Raise Invalid."""
    user_id = req.param('user_id')
    return None if user_id is None else identifiers.short(user_id, 'user_id')


def _names(req: request.Request) -> dict[str, str]:
    return quota_names.of_sets(req.minor)


def _limits(req: request.Request, project_id: str) -> dict[str, int]:
    return req.app.api_db.read(stored_limits, quota.rules(req, project_id), project_id, _user(req))


def _answer(req: request.Request, project_id: str, limits: Mapping[str, int]) -> operation.Body:
    return {'quota_set': {'id': project_id, **quota_names.shown(_names(req), limits)}}


def stored_limits(
    connection: sa.Connection, by: quota_rules.Rules, project_id: str, user_id: str | None = None
) -> dict[str, int]:
    """Return {resource: limit} of a project or a user, also the stored limits of networks."""
    found = dict(quotas.of_project(connection, project_id))
    if user_id is not None:
        found.update(quotas.of_project(connection, project_id, user_id))
    return {**found, **by.limits(connection, project_id, user_id)}


def usage(connection: sa.Connection, project_id: str, user_id: str | None = None) -> dict[str, int]:
    """Return {resource: used amount}; key pairs only count for a user."""
    servers, cores, ram = instance_mappings.usage(connection, project_id, user_id)
    return {
        'instances': servers,
        'cores': cores,
        'ram': ram,
        'server_groups': server_groups.count(connection, project_id, user_id),
        'key_pairs': 0 if user_id is None else keypairs.count(connection, user_id),
    }


def _set(
    connection: sa.Connection,
    by: quota_rules.Rules,
    wanted: Mapping[str, int],
    *,
    project_id: str,
    user_id: str | None,
    forced: bool,
) -> dict[str, int]:
    if not forced:
        _require_within(wanted, *_bounds(connection, by, project_id, user_id))
    quotas.set_limits(connection, project_id, wanted, user_id or '')
    return stored_limits(connection, by, project_id, user_id)


def _bounds(
    connection: sa.Connection, by: quota_rules.Rules, project_id: str, user_id: str | None
) -> tuple[dict[str, int], dict[str, int]]:
    """Return ({resource: lowest limit}, {resource: highest limit}) that may be set.

    A project may not have less than its users use, or than their own limits promise them; a
    user not more than the project has beside what it promises to other users.
    """
    lowest, highest = usage(connection, project_id, user_id), {}
    promised: collections.Counter[str] = collections.Counter()
    for name, own in quotas.of_users(connection, project_id).items():
        if name != user_id:
            promised.update({resource: max(limit, 0) for resource, limit in own.items()})
    if user_id is None:
        lowest = {
            resource: max(lowest.get(resource, 0), promised[resource])
            for resource in {*lowest, *promised}
        }
    else:
        for resource, limit in stored_limits(connection, by, project_id).items():
            highest[resource] = limit if limit < 0 else max(limit - promised[resource], 0)
    return lowest, highest


def _require_within(
    wanted: Mapping[str, int], lowest: Mapping[str, int], highest: Mapping[str, int]
) -> None:
    """Raise LimitTooLow or LimitTooHigh for a limit out of the bounds."""
    for resource, limit in wanted.items():
        minimum, maximum = lowest.get(resource, 0), highest.get(resource, -1)
        if _bound(limit) < minimum:
            raise LimitTooLow(limit=limit, resource=resource, minimum=minimum)
        if _bound(limit) > _bound(maximum):
            raise LimitTooHigh(limit=limit, resource=resource, maximum=maximum)


def _bound(limit: float) -> float:
    return math.inf if limit < 0 else limit
