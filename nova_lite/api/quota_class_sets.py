"""Quota class sets: the class `default` holds for projects without limits of their own.

Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Mapping

from oslo_config import cfg
import sqlalchemy as sa

from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import quota_names
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import quotas as rules
from nova_lite.conf import quota as options
from nova_lite.db.api import quotas

ONE = '/os-quota-class-sets/{quota_class}'
UPDATE = {
    f'2.{minor}': schema_parts.body(
        'quota_class_set', quota_names.schema(quota_names.settable(minor))
    )
    for minor in (1, 50, 57)
}


@operation.operation('GET', ONE, policy=rules.CLASS_SHOW, faults=(403,))
def show(req: request.Request) -> operation.Result:
    """Limits of a class."""
    name = req.args['quota_class']
    if req.conf.quota.driver != options.STORED:
        # The class `default` has no effect: the registered limits replace it, or nothing does.
        limits = req.app.api_db.read(quota.rules(req).defaults)
    else:
        limits = req.app.api_db.read(_limits, req.conf, name)
    return {'quota_class_set': {'id': name, **quota_names.shown(_names(req), limits)}}


@operation.operation('PUT', ONE, policy=rules.CLASS_UPDATE, body=UPDATE, faults=(400, 403))
def update(req: request.Request) -> operation.Result:
    """Set limits of a class."""
    quota.rules(req).require_settable()
    wanted = quota_names.given(quota_names.settable(req.minor), req.content)
    name = identifiers.short(req.args['quota_class'], 'quota_class_name')
    limits = req.app.api_db.write(_set, req.conf, name, wanted)
    return {'quota_class_set': quota_names.shown(_names(req), limits)}


def _names(req: request.Request) -> dict[str, str]:
    return quota_names.of_classes(req.minor)


def _limits(connection: sa.Connection, conf: cfg.ConfigOpts, name: str) -> dict[str, int]:
    configured = {resource: conf.quota[resource] for resource in quota_rules.RESOURCES}
    return {**configured, **quotas.of_class(connection, name)}


def _set(
    connection: sa.Connection, conf: cfg.ConfigOpts, name: str, wanted: Mapping[str, int]
) -> dict[str, int]:
    quotas.set_class(connection, name, wanted)
    return _limits(connection, conf, name)
