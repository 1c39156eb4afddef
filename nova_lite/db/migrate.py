"""Schemas: bring a database up to date, tell its revision and what differs.

which: 'api' for the API database, 'cell' for that of a cell or of cell0
"""

import functools
import pathlib

from alembic import autogenerate
from alembic import command
from alembic import config
from alembic import script
from alembic.runtime import migration

from nova_lite.db import engine
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models

SCHEMA = pathlib.Path(__file__).parent / 'schema'
METADATA = {'api': api_models.Base.metadata, 'cell': cell_models.Base.metadata}
HEAD = 'head'


def upgrade(url, which, revision=HEAD):
    """Bring the database up to a revision, the newest by default.

    Raises Unavailable when it cannot be reached, alembic's CommandError for a
    revision that there is not.
    """
    _run(url, _upgrade, which, revision)


def version(url, which):
    """The revision a database has; None for one that is empty."""
    return _run(url, _version)


@functools.cache
def newest(which):
    """The newest revision there is."""
    return script.ScriptDirectory.from_config(_config(which)).get_current_head()


def differences(url, which):
    """What alembic finds to differ between a database and the models; empty if nothing."""
    return _run(url, _differences, which)


def _run(url, function, *args):
    database = engine.Database(url, threads=1)
    try:
        return database.write(function, *args)
    finally:
        database.dispose()


def _upgrade(connection, which, revision):
    # Alembic would read all revisions to find out that it has nothing to do.
    if revision == HEAD and _version(connection) == newest(which):
        return
    command.upgrade(_config(which, connection), revision)


def _version(connection):
    return migration.MigrationContext.configure(connection).get_current_revision()


def _differences(connection, which):
    context = migration.MigrationContext.configure(
        connection, opts={'compare_type': True, 'target_metadata': METADATA[which]}
    )
    return autogenerate.compare_metadata(context, METADATA[which])


def _config(which, connection=None):
    found = config.Config()
    found.set_main_option('script_location', str(SCHEMA))
    found.set_main_option('version_locations', str(SCHEMA / which))
    found.set_main_option('path_separator', 'newline')
    found.attributes['connection'] = connection
    found.attributes['metadata'] = METADATA[which]
    return found
