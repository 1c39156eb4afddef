"""limits: copies of quota limits in the identity service."""

from collections.abc import Iterator
from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.api import keystone_quota
from nova_lite.api import quota_rules
from nova_lite.clients import auth
from nova_lite.clients import keystone_limits
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.db.api import quotas
from nova_lite.manage import command

MISSING, REFUSED = 3, 4
# Limits that projects have of their own in Keystone.
OF_PROJECTS = ('instances', 'cores', 'ram')


class Copy(typing.NamedTuple):
    """Limits to create. project_id: None for registered limits"""

    project_id: str | None
    limits: dict[str, int]


@command.verb(
    'limits',
    command.option('--project-id', metavar='PROJECT_ID', help='copy only limits of this project'),
    command.option(
        '--region-id',
        metavar='REGION_ID',
        help='region of the new limits (default: that of [oslo_limit]endpoint_id, or none)',
    ),
    command.VERBOSE,
    command.flag('--dry-run', 'print the limits, and create none'),
)
def migrate_to_unified_limits(deployment: command.Deployment, args: command.Args) -> int:
    """Copy quota limits from the API database and the options to Keystone.

    Keystone may not have a project any more. Then the limits of the other projects are copied.
    """
    client = keystone_limits.KeystoneLimits(auth.Credentials(deployment.conf))
    ctxt = context.RequestContext(overwrite=False)
    if args.region_id:
        client.use_region(args.region_id)
    known = client.registered(ctxt)
    stored = deployment.api_db.read(_stored, quota_rules.Rules(deployment.conf), args.project_id)
    created, refused = 0, []
    for copy in stored:
        try:
            here = client.of_project(ctxt, copy.project_id) if copy.project_id else known
            wanted = {name: limit for name, limit in copy.limits.items() if name not in here}
            _report(copy, wanted, args)
            if wanted and not args.dry_run:
                client.create(ctxt, wanted, project_id=copy.project_id)
        except exception.NovaLiteError as error:
            if copy.project_id is None or error.transient:
                raise
            print(f'Cannot create the limits of project {copy.project_id}: {error}')
            refused.append(copy.project_id)
            continue
        created += len(wanted)
        if copy.project_id is None:
            known = {**known, **wanted}
    deployment.found['created'] = 0 if args.dry_run else created
    deployment.found['refused'] = refused
    missing = deployment.api_db.read(_classes_of_flavors) - known.keys()
    if missing:
        print(f'Resources of flavors without a registered limit: {", ".join(sorted(missing))}')
    if refused:
        print(f'Projects without copies of their limits: {", ".join(refused)}')
    return REFUSED if refused else MISSING if missing else 0


def _report(copy: Copy, wanted: Mapping[str, int], args: command.Args) -> None:
    kind = f'limit of project {copy.project_id}' if copy.project_id else 'registered limit'
    done = 'Would create' if args.dry_run else 'Creating'
    for name, limit in copy.limits.items():
        if name in wanted:
            print(f'{done} {kind}: {name} = {limit}')
        elif args.verbose:
            print(f'Keeping the existing {kind}: {name}')


def _stored(
    connection: sa.Connection, rules: quota_rules.Rules, project_id: str | None
) -> list[Copy]:
    """Return the limits to copy, registered limits first."""
    return [
        Copy(None, _renamed(rules.defaults(connection))),
        *(
            Copy(each, _renamed(own))
            for each in quotas.projects(connection)
            if project_id in (None, each) and (own := _own(quotas.of_project(connection, each)))
        ),
    ]


def _own(limits: Mapping[str, int]) -> dict[str, int]:
    return {name: limits[name] for name in OF_PROJECTS if name in limits}


def _renamed(limits: Mapping[str, int]) -> dict[str, int]:
    return {keystone_quota.NAMES[name]: limit for name, limit in limits.items()}


def _classes_of_flavors(connection: sa.Connection) -> set[str]:
    """Return the names of limits of the resource classes that flavors name or imply."""
    return {
        keystone_quota.CLASS + name
        for flavor in rows.every(connection, models.Flavor.__table__)
        for name in _classes(flavor)
    }


def _classes(flavor: rows.Row) -> Iterator[str]:
    found = flavor.extra_specs
    if flavor.root_gb or flavor.ephemeral_gb or flavor.swap:
        yield 'DISK_GB'
    if found.get('hw:cpu_policy') in ('dedicated', 'mixed'):
        yield keystone_quota.PCPU
    for key in found:
        match = keystone_quota.AMOUNT.fullmatch(key)
        if match:
            yield match[2]
