"""api_db and db: schemas, and what is to be migrated while daemons run."""

from alembic import util

from nova_lite import exception
from nova_lite.db import migrate
from nova_lite.manage import command

REVISION = command.option('version', nargs='?', metavar='VERSION', default=migrate.HEAD)
LOCAL = command.option(
    '--local_cell', action='store_true', help='leave cell0 alone: only the database configured'
)


@command.verb('api_db', REVISION, name='sync')
def api_sync(site, args):
    """Bring the schema up to date."""
    return _sync(site.api_db.url, 'api', args.version)


@command.verb('api_db', name='version')
def api_version(site, _args):
    """Print the schema's revision."""
    _print_version(site, site.api_db.url, 'api')


@command.verb('db', LOCAL, REVISION, name='sync')
def sync(site, args):
    """Bring the schema of the cell up to date, and cell0's unless told otherwise."""
    failed = 0
    if not args.local_cell:
        failed = _sync_cell0(site, args.version)
    if site.cell_url:
        failed = _sync(site.cell_url, 'cell', args.version) or failed
    return failed


@command.verb('db', name='version')
def version(site, _args):
    """Print the revision of the cell's schema."""
    _print_version(site, site.cell_url or site.cells.cell0.db.url, 'cell')


@command.verb(
    'db',
    command.option('--max-count', type=int, metavar='N', help='rows to migrate at most'),
    name='online_data_migrations',
)
def online_data_migrations(site, args):
    """Migrate data of older releases."""
    if args.max_count is not None and args.max_count < 1:
        print('Must supply a positive value for max_count')
        return 127
    # This is the first release: there is nothing older to migrate from.
    columns = {'migration': 'Migration', 'needed': 'Total Needed', 'completed': 'Completed'}
    command.print_list(site, args, columns, ())
    return 0


def _print_version(site, url, which):
    site.found['version'] = migrate.version(url, which)
    print(site.found['version'])


def _sync_cell0(site, revision):
    try:
        url = site.cells.cell0.db.url
    except exception.CellMappingNotFound:
        print('WARNING: cell0 mapping not found - not syncing cell0.')
        return 0
    except exception.NovaLiteError as error:
        print(f'ERROR: Could not read the mapping of cell0: {error}')
        return 1
    return _sync(url, 'cell', revision)


def _sync(url, which, revision):
    try:
        migrate.upgrade(url, which, revision)
    except (exception.Unavailable, util.CommandError) as error:
        print(f'ERROR: {error}')
        return 1
    return 0
