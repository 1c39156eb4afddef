"""api_db and db: schemas and online data migrations."""

from alembic import util

from nova_lite import exception
from nova_lite.db import schema_migration
from nova_lite.manage import command

REVISION = command.option('version', nargs='?', metavar='VERSION', default=schema_migration.HEAD)
LOCAL = command.option(
    '--local_cell', action='store_true', help='only the configured database, not that of cell0'
)


@command.verb('api_db', REVISION, name='sync')
def api_sync(deployment: command.Deployment, args: command.Args) -> int:
    """Upgrade the schema."""
    return _sync(deployment.api_db.url, 'api', args.version)


@command.verb('api_db', name='version')
def api_version(deployment: command.Deployment, _args: command.Args) -> int:
    """Print the revision of the schema."""
    return _print_version(deployment, deployment.api_db.url, 'api')


@command.verb('db', LOCAL, REVISION, name='sync')
def sync(deployment: command.Deployment, args: command.Args) -> int:
    """Upgrade the schemas of the configured cell and of cell0."""
    failed = 0
    if not args.local_cell:
        failed = _sync_cell0(deployment, args.version)
    if deployment.cell_url:
        failed = _sync(deployment.cell_url, 'cell', args.version) or failed
    return failed


@command.verb('db', name='version')
def version(deployment: command.Deployment, _args: command.Args) -> int:
    """Print the revision of the cell's schema."""
    url = deployment.cell_url or deployment.cells.cell0.db.url
    return _print_version(deployment, url, 'cell')


@command.verb(
    'db',
    command.option('--max-count', type=int, metavar='N', help='largest number of rows to migrate'),
    name='online_data_migrations',
)
def online_data_migrations(deployment: command.Deployment, args: command.Args) -> int:
    """Migrate data of older releases."""
    if args.max_count is not None and args.max_count < 1:
        print('Must supply a positive value for max_count')
        return 127
    # This is the first release: there are no migrations yet.
    columns = {'migration': 'Migration', 'needed': 'Total Needed', 'completed': 'Completed'}
    command.print_list(deployment, args, columns, ())
    return 0


def _print_version(deployment: command.Deployment, url: str, which: str) -> int:
    deployment.found['version'] = schema_migration.version(url, which)
    print(deployment.found['version'])
    return 0


def _sync_cell0(deployment: command.Deployment, revision: str) -> int:
    try:
        url = deployment.cells.cell0.db.url
    except exception.CellMappingNotFound:
        print('WARNING: cell0 mapping not found - not syncing cell0.')
        return 0
    except exception.NovaLiteError as error:
        print(f'ERROR: Could not read the mapping of cell0: {error}')
        return 1
    return _sync(url, 'cell', revision)


def _sync(url: str, which: str, revision: str) -> int:
    try:
        schema_migration.upgrade(url, which, revision)
    except (exception.Unavailable, util.CommandError) as error:
        print(f'ERROR: {error}')
        return 1
    except AssertionError:
        # Alembic's answer to some relative revisions.
        print(f"ERROR: Can't locate revision identified by {revision!r}")
        return 1
    return 0
