"""Schemas: upgrade a database, and show its revision.

which: 'api' for the API database, 'cell' for that of a cell or of cell0
"""

import functools
import pathlib
import typing

from alembic import command
from alembic import config
from alembic import script
from alembic.runtime import migration
import sqlalchemy

from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models

SCHEMA = pathlib.Path(__file__).parent / 'schema'
METADATA = {'api': api_models.Base.metadata, 'cell': cell_models.Base.metadata}
HEAD = 'head'

P = typing.ParamSpec('P')
T = typing.TypeVar('T')


def upgrade(url: str, which: str, revision: str = HEAD) -> None:
    """Upgrade the database to a revision, by default to the newest.

    Raises Unavailable if it cannot be reached, alembic's CommandError for an unknown revision.
    """
    _run(url, _upgrade, which, revision)


def version(url: str, which: str) -> str | None:
    """Return the revision of a database; None if it is empty."""
    return _run(url, _version)


@functools.cache
def newest(which: str) -> str | None:
    """Return the newest revision."""
    return script.ScriptDirectory.from_config(_config(which)).get_current_head()


def _run(url: str, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    database = transactions.Database(url, threads=1)
    try:
        return database.write(function, *args, **kwargs)
    finally:
        database.dispose()


def _upgrade(connection: sqlalchemy.Connection, which: str, revision: str) -> None:
    # Without this check alembic would read all revisions although it has nothing to do.
    found = _version(connection)
    if revision == HEAD and found == newest(which):
        return
    if found is not None and not _is_known(found, which):
        place = connection.engine.url.database
        raise exception.Invalid(
            reason=f'the schema of database {place} is {found}, which this release does not know. '
            'Use the release that wrote it, or a newer one'
        )
    command.upgrade(_config(which, connection), revision)


def _is_known(revision: str, which: str) -> bool:
    known = script.ScriptDirectory.from_config(_config(which)).walk_revisions()
    return any(each.revision == revision for each in known)


def _version(connection: sqlalchemy.Connection) -> str | None:
    return migration.MigrationContext.configure(connection).get_current_revision()


def _config(which: str, connection: sqlalchemy.Connection | None = None) -> config.Config:
    found = config.Config()
    found.set_main_option('script_location', str(SCHEMA))
    found.set_main_option('version_locations', str(SCHEMA / which))
    found.set_main_option('path_separator', 'newline')
    found.attributes['connection'] = connection
    found.attributes['metadata'] = METADATA[which]
    return found
