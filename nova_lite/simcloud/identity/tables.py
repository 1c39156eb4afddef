"""Tables of the identity service."""

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import faults

PROJECT = 'project'
DOMAIN = 'domain'
# A role on a domain that counts in all its projects, and not on the domain itself.
INHERITED = 'inherited'

domains = sa.Table(
    'identity_domains',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    sa.Column('name', database.Name, nullable=False, unique=True),
    sa.Column('description', database.Text, nullable=False),
    sa.Column('enabled', sa.Boolean, nullable=False),
)

projects = sa.Table(
    'identity_projects',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    sa.Column('domain_id', database.Id, nullable=False),
    sa.Column('parent_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('description', database.Text, nullable=False),
    sa.Column('enabled', sa.Boolean, nullable=False),
    sa.Column('tags', sa.JSON, nullable=False),
    sa.Column('extra', sa.JSON, nullable=False),
    sa.UniqueConstraint('domain_id', 'name'),
)

users = sa.Table(
    'identity_users',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    sa.Column('domain_id', database.Id, nullable=False),
    sa.Column('name', database.Name, nullable=False),
    sa.Column('password_hash', database.Name),
    sa.Column('password_changed_at', database.Time, nullable=False),
    sa.Column('enabled', sa.Boolean, nullable=False),
    sa.Column('default_project_id', database.Id),
    sa.Column('extra', sa.JSON, nullable=False),
    sa.UniqueConstraint('domain_id', 'name'),
)

roles = sa.Table(
    'identity_roles',
    database.METADATA,
    sa.Column('id', database.Id, primary_key=True),
    sa.Column('name', database.Name, nullable=False, unique=True),
    sa.Column('description', database.Text, nullable=False),
)

implied_roles = sa.Table(
    'identity_implied_roles',
    database.METADATA,
    sa.Column('prior_role_id', database.Id, primary_key=True),
    sa.Column('implied_role_id', database.Id, primary_key=True),
)

assignments = sa.Table(
    'identity_assignments',
    database.METADATA,
    sa.Column('user_id', database.Id, primary_key=True),
    sa.Column('target_kind', sa.String(16), primary_key=True),
    sa.Column('target_id', database.Id, primary_key=True),
    sa.Column('role_id', database.Id, primary_key=True),
)

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

generation = sa.Table(
    'identity_generation',
    database.METADATA,
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('value', sa.BigInteger, nullable=False),
)


def touch(conn):
    """Tell every process that what tokens mean may have changed."""
    changed = conn.execute(generation.update().values(value=generation.c.value + 1))
    if not changed.rowcount:
        conn.execute(generation.insert().values(id=1, value=1))


def current_generation(conn):
    """A number that grows whenever a cached token may have become wrong."""
    return conn.execute(sa.select(generation.c.value)).scalar() or 0


def kind_of(table):
    """How messages call a row: user, project, domain or role."""
    return table.name.removeprefix('identity_').removesuffix('s')


def get(conn, table, row_id):
    """One row by id; NotFound otherwise."""
    row = find(conn, table, id=row_id)
    if row is None:
        raise faults.NotFound(f'Could not find {kind_of(table)}: {row_id[:64]}.')
    return row


def enabled_among(conn, table, ids):
    """The enabled rows among `ids`, by name."""
    query = sa.select(table).where(table.c.id.in_(ids), table.c.enabled)
    return database.rows(conn, query.order_by(table.c.name))


def require_free_name(conn, table, name, *, domain_id, row_id=None):
    """Refuse a name that another row of the domain has."""
    same = find(conn, table, domain_id=domain_id, name=name)
    if same and same['id'] != row_id:
        raise faults.Conflict(
            f'Conflict occurred attempting to store {kind_of(table)} - it is not '
            f'permitted to have two with the name {name} in one domain.'
        )


def find(conn, table, **values):
    """The one row of `table` with these values, or None."""
    return database.one(
        conn, sa.select(table).where(*(table.c[name] == value for name, value in values.items()))
    )
