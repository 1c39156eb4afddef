"""Tables of the identity service."""

import datetime
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.dialects import execute
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging

PROJECT = 'project'
DOMAIN = 'domain'
# The kinds of actors that may have roles.
USER, GROUP = 'user', 'group'
# A role on a domain that counts in all its projects, but not on the domain itself.
INHERITED = 'inherited'
# Roles on the system are stored but have no effect, because no token has this scope.
SYSTEM, WHOLE = 'system', 'all'
# Scope of a token that was obtained with an application credential or a trust: its project.
CREDENTIAL, TRUST = 'app_credential', 'trust'


def new_id() -> str:
    """Return a new id in Keystone's form: 32 hexadecimal digits."""
    return runtime.new_uuid().replace('-', '')


domains = sa.Table(
    'identity_domains',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('name', database.Name, nullable=False, unique=True),
    sa.Column('description', database.Text, nullable=False, default=''),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
)

projects = sa.Table(
    'identity_projects',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('domain_id', database.Id, nullable=False),
    sa.Column('parent_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('description', database.Text, nullable=False, default=''),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('tags', sa.JSON, nullable=False, default=list),
    sa.Column('extra', sa.JSON, nullable=False, default=dict),
    sa.UniqueConstraint('domain_id', 'name'),
)

users = sa.Table(
    'identity_users',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('domain_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('password_hash', database.Name),
    sa.Column('password_changed_at', database.Time, nullable=False, default=runtime.naive_now),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('default_project_id', database.Id),
    sa.Column('extra', sa.JSON, nullable=False, default=dict),
    sa.UniqueConstraint('domain_id', 'name'),
)

failed_logins = sa.Table(
    'identity_failed_logins',
    database.METADATA,
    sa.Column('user_id', database.Id, primary_key=True),
    sa.Column('failures', sa.Integer, nullable=False),
    sa.Column('last_at', database.Time, nullable=False),
)

roles = sa.Table(
    'identity_roles',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('name', database.Name, nullable=False, unique=True),
    sa.Column('description', database.Text, nullable=False, default=''),
)

implied_roles = sa.Table(
    'identity_implied_roles',
    database.METADATA,
    sa.Column('prior_role_id', database.Id, primary_key=True),
    sa.Column('implied_role_id', database.Id, primary_key=True),
)


def _assignments(name: str, actor: str) -> sa.Table:
    """Return a table of role assignments of users, or of groups."""
    return sa.Table(
        name,
        database.METADATA,
        sa.Column(f'{actor}_id', database.Id, primary_key=True),
        sa.Column('target_kind', sa.String(16), primary_key=True),
        sa.Column('target_id', database.Id, primary_key=True),
        sa.Column('role_id', database.Id, primary_key=True),
    )


assignments = _assignments('identity_assignments', USER)

groups = sa.Table(
    'identity_groups',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('domain_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('description', database.Text, nullable=False, default=''),
    sa.UniqueConstraint('domain_id', 'name'),
)

group_members = sa.Table(
    'identity_group_members',
    database.METADATA,
    sa.Column('user_id', database.Id, primary_key=True),
    sa.Column('group_id', database.Id, primary_key=True, index=True),
)

group_assignments = _assignments('identity_group_assignments', GROUP)

tokens = sa.Table(
    'identity_tokens',
    database.METADATA,
    sa.Column('digest', sa.String(64), primary_key=True),
    sa.Column('user_id', database.Id, nullable=False),
    sa.Column('methods', sa.JSON, nullable=False),
    sa.Column('audit_ids', sa.JSON, nullable=False),
    sa.Column('scope_kind', sa.String(16)),
    sa.Column('scope_id', database.Id),
    sa.Column('issued_at', database.Time, nullable=False),
    sa.Column('expires_at', database.Time, nullable=False, index=True),
)

application_credentials = sa.Table(
    'identity_application_credentials',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('user_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('project_id', database.Id, nullable=False),
    sa.Column('description', database.Text),
    sa.Column('secret_hash', database.Name, nullable=False),
    sa.Column('expires_at', database.Time),
    sa.Column('unrestricted', sa.Boolean, nullable=False, default=False),
    sa.Column('roles', sa.JSON, nullable=False),
    sa.UniqueConstraint('user_id', 'name'),
)

access_rules = sa.Table(
    'identity_access_rules',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    sa.Column('user_id', database.Id, nullable=False, index=True),
    sa.Column('service', database.Id, nullable=False),
    sa.Column('path', database.Name, nullable=False),
    sa.Column('method', sa.String(16), nullable=False),
)

credential_rules = sa.Table(
    'identity_credential_rules',
    database.METADATA,
    sa.Column('credential_id', database.Id, primary_key=True),
    sa.Column('rule_id', database.Id, primary_key=True, index=True),
)

trusts = sa.Table(
    'identity_trusts',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('trustor_user_id', database.Id, nullable=False, index=True),
    sa.Column('trustee_user_id', database.Id, nullable=False, index=True),
    sa.Column('project_id', database.Id),
    sa.Column('impersonation', sa.Boolean, nullable=False),
    sa.Column('expires_at', database.Time),
    sa.Column('remaining_uses', sa.Integer),
    sa.Column('redelegation_count', sa.Integer, nullable=False),
    sa.Column('roles', sa.JSON, nullable=False),
)

credentials = sa.Table(
    'identity_credentials',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('user_id', database.Id, nullable=False, index=True),
    sa.Column('project_id', database.Id),
    sa.Column('type', database.Name, nullable=False),
    sa.Column('blob', database.Text, nullable=False),
)

policies = sa.Table(
    'identity_policies',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True, default=new_id),
    sa.Column('type', database.Name, nullable=False),
    sa.Column('blob', database.Text, nullable=False),
)


def _catalog(name: str, *columns: sa.Column[typing.Any]) -> sa.Table:
    """Return a table of entries that differ from the configured catalog (catalog.Catalog)."""
    return sa.Table(
        name,
        database.METADATA,
        sa.Column('id', database.Name, primary_key=True, default=new_id),
        *columns,
        sa.Column('extra', sa.JSON, nullable=False, default=dict),
        sa.Column('removed', sa.Boolean, nullable=False, default=False),
    )


regions = _catalog(
    'identity_regions',
    sa.Column('description', database.Name, nullable=False, default=''),
    sa.Column('parent_region_id', database.Name),
)

services = _catalog(
    'identity_services',
    sa.Column('type', database.Name, nullable=False),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
)

endpoints = _catalog(
    'identity_endpoints',
    sa.Column('service_id', database.Name, nullable=False),
    sa.Column('interface', sa.String(16), nullable=False),
    sa.Column('region_id', database.Name),
    # NULL: the configured URL.
    sa.Column('url', database.Text),
    sa.Column('enabled', sa.Boolean, nullable=False, default=True),
)


def _limits(name: str, *columns: sa.Column[typing.Any]) -> sa.Table:
    """Return a table of limits of resources of services."""
    return sa.Table(
        name,
        database.METADATA,
        sa.Column('id', database.Id, primary_key=True, default=new_id),
        sa.Column('service_id', database.Name, nullable=False),
        sa.Column('region_id', database.Name),
        sa.Column('resource_name', database.Name, nullable=False),
        sa.Column('description', database.Text),
        *columns,
    )


registered_limits = _limits(
    'identity_registered_limits', sa.Column('default_limit', sa.Integer, nullable=False)
)

project_limits = _limits(
    'identity_limits',
    sa.Column('resource_limit', sa.Integer, nullable=False),
    sa.Column('project_id', database.Id, index=True),
    sa.Column('domain_id', database.Id),
)

project_endpoints = sa.Table(
    'identity_project_endpoints',
    database.METADATA,
    sa.Column('project_id', database.Id, primary_key=True),
    sa.Column('endpoint_id', database.Name, primary_key=True, index=True),
)

generation = sa.Table(
    'identity_generation',
    database.METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('value', sa.BigInteger, nullable=False),
)
_INCREASE = generation.update().values(value=generation.c.value + 1)
_GENERATION = sa.select(generation.c.value)


def touch(conn: sa.Connection) -> None:
    """Increase the generation, which makes every process forget its cached tokens."""
    if not execute.change(conn, _INCREASE):
        conn.execute(generation.insert().values(id=1, value=1))


def current_generation(conn: sa.Connection) -> int:
    """Return a number that increases whenever a cached token may have become invalid."""
    return execute.value(conn, _GENERATION) or 0


def kind_of(table: sa.Table) -> str:
    """Return the name for a row of a table in messages, such as user or project."""
    name = table.name.removeprefix('identity_').replace('_', ' ')
    return f'{name[:-3]}y' if name.endswith('ies') else name.removesuffix('s')


def is_expired(row: database.Row) -> bool:
    """Return whether an application credential or a trust is no longer valid."""
    expires_at = row['expires_at']
    return expires_at is not None and expires_at <= runtime.naive_now()


def expiry(text: str | None) -> datetime.datetime | None:
    """Return the time in `expires_at` of a request, or None. Raise BadRequest for a past time."""
    if text is None:
        return None
    moment = paging.parse_time(text, 'expires_at')
    if moment <= runtime.naive_now():
        raise faults.BadRequest('expires_at is in the past.')
    return moment


def get(conn: sa.Connection, table: sa.Table, row_id: str) -> database.Row:
    """Return one row by id. Raise NotFound."""
    row = database.find(conn, table, id=row_id)
    if row is None:
        raise faults.NotFound(f'Could not find {kind_of(table)}: {row_id[:64]}.')
    return row


def among(
    conn: sa.Connection, table: sa.Table, ids: list[str] | set[str], **values: typing.Any
) -> list[database.Row]:
    """Return the rows with one of `ids` and these values of columns, sorted by name."""
    return database.find_all(conn, table, table.c.id.in_(ids), **values, order=['name'])


def save(
    conn: sa.Connection, table: sa.Table, row: database.Row, **values: typing.Any
) -> database.Row:
    """Write columns of a row, and increase the generation. Return the new row."""
    touch(conn)
    return database.save(conn, table, row, **values)


def remove(conn: sa.Connection, table: sa.Table, row_id: str) -> None:
    """Delete a row, and increase the generation."""
    touch(conn)
    database.delete(conn, table, id=row_id)


def insert_named(conn: sa.Connection, table: sa.Table, wanted: bodies.Json) -> database.Row:
    """Insert a row from a request's values and return it. Raise Conflict if its name is taken."""
    require_free_name(conn, table, wanted['name'])
    touch(conn)
    return database.insert(conn, table, **database.columns(table, wanted))


def save_named(
    conn: sa.Connection, table: sa.Table, row_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a row and return it. Raise NotFound, or Conflict if the new name is taken."""
    row = get(conn, table, row_id)
    values = database.columns(table, wanted)
    if 'name' in values:
        require_free_name(conn, table, values['name'], row_id=row_id)
    return save(conn, table, row, **values) if values else row


def require_change(wanted: bodies.Json) -> None:
    """Raise BadRequest if `wanted`, the values of a request, is empty."""
    if not wanted:
        raise faults.BadRequest('The request changes nothing.')


def require_free_name(
    conn: sa.Connection, table: sa.Table, name: str, *, row_id: str = '', **within: typing.Any
) -> None:
    """Raise Conflict if a row other than `row_id` has the name, among rows with values `within`."""
    if database.exists(conn, table, table.c.id != row_id, name=name, **within):
        where = ' in one domain' if within else ''
        raise faults.Conflict(
            f'Conflict occurred attempting to store {kind_of(table)} - it is not '
            f'permitted to have two with the name {name}{where}.'
        )
