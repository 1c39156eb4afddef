"""Create the first contents of a cloud: schemas, cell mappings, flavors, host mappings.

The functions may run again on a cloud that has them.
"""

import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.lab.launcher import first_flavors
from nova_lite.lab.launcher import layout
from nova_lite.lifecycle import discovery

WAIT_S = 60
LOOK_S = 0.1
# Up to this number of hosts, each poll lists all of them. With more hosts, a poll looks for one.
LISTED = 100
# Hosts for each additional second between two polls, which limits the load of polling.
LOOKS_AT = 20000
# Traits are written first and inventories second, each making a new generation.
WITH_INVENTORY = 2
# MariaDB's codes for a user or password that it does not know, or not from here.
DENIED = (1044, 1045, 1130, 1698)


def databases(places, *, fresh=False):
    """Create what is missing and bring every schema up to date."""
    create_databases(places, fresh=fresh)
    schema_migration.upgrade(places.database_url(layout.API), 'api')
    for name in (layout.CELL0, *places.cell_names):
        schema_migration.upgrade(places.database_url(name), 'cell')


def create_databases(places, *, fresh=False):
    """Create the databases that a server does not have yet; SQLite makes its own.

    fresh: drop those of this cloud first. Raise ValueError if the server rejects the
    credentials, Unavailable if it does not answer.
    """
    if places.settings.database is None:
        return
    url = sa.make_url(places.settings.database)
    if url.get_backend_name() == 'postgresql':
        url = url.set(database='postgres')
    server = sa.create_engine(url, isolation_level='AUTOCOMMIT')
    try:
        with server.connect() as connection:
            _create_missing(places, connection, fresh)
    except sa.exc.OperationalError as error:
        if _refused(error.orig):
            raise ValueError(
                f'--db: the server rejects the credentials: {error.orig.args[-1]}'
            ) from None
        raise exception.Unavailable(service='The database server', reason=error.orig) from error
    finally:
        server.dispose()


def _refused(error):
    # psycopg's errors of connecting have no code.
    return error.args[:1] and error.args[0] in DENIED or 'authentication failed' in str(error)


def _create_missing(places, connection, fresh):
    dialect = connection.engine.dialect
    known = (
        set(sa.inspect(connection).get_schema_names())
        if dialect.name != 'postgresql'
        else set(connection.scalars(sa.text('SELECT datname FROM pg_database')))
    )
    for name in (layout.API, layout.CELL0, layout.PLACEMENT, *places.cell_names):
        database = sa.make_url(places.database_url(name)).database
        quoted = dialect.identifier_preparer.quote(database)
        if fresh and database in known:
            connection.execute(sa.text(f'DROP DATABASE {quoted}'))
        if fresh or database not in known:
            connection.execute(sa.text(f'CREATE DATABASE {quoted}'))


def mappings(places, conf):
    """Map cell0 and the cells, where they are now; add the default flavors to an empty cloud."""
    database = transactions.Database(conf.api_database.connection)

    def write(connection):
        known = {row.name: row for row in cell_mappings.every(connection)}
        wanted = {layout.CELL0: cells_module.CELL0_UUID}
        wanted |= {name: runtime.new_uuid() for name in places.cell_names}
        for name, uuid in wanted.items():
            urls = places.cell_urls(name)
            if name in known:
                cell_mappings.update(connection, known[name].uuid, urls)
            else:
                values = {'uuid': uuid, 'name': name, 'disabled': False, **urls}
                cell_mappings.create(connection, values)
        first_flavors.create(connection)

    database.write(write)
    database.dispose()


def hosts(places, conf):
    """Wait until every host has reported itself, map them all, wait for placement too."""
    database = transactions.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, database)
    try:
        count = sum(len(places.hosts(name)) for name in places.cell_names)
        deadline = runtime.monotonic() + WAIT_S + count
        for name in places.cell_names:
            cell = next(cell for cell in cells.every() if cell.name == name)
            _wait(
                places.hosts(name),
                lambda cell=cell: cell.db.read(compute_nodes.hosts),
                f'did not report to {cell.name}',
                deadline=deadline,
            )
        discovery.discover_hosts(cells)
        client = placement.Placement(auth.Credentials(conf))
        _wait(
            [host for name in places.cell_names for host in places.hosts(name)],
            lambda **filters: _registered(client, **filters),
            'are not registered in placement',
            deadline=deadline,
            look_s=LOOK_S + count / LOOKS_AT,
            one_first=count > LISTED,
        )
    finally:
        cells.close()
        database.dispose()


def _registered(client, **filters):
    return {
        provider.name
        for provider in client.providers.list(context.admin(), **filters)
        if provider.generation >= WITH_INVENTORY
    }


def _wait(hosts, find, what, *, deadline, look_s=LOOK_S, one_first=False):
    """Wait until all hosts are found. Raise Unavailable after the deadline.

    find: returns names of all hosts that are there
    look_s: seconds between two looks
    one_first: look for the last missing host alone, with the argument `name` of `find`, and for
        all when it is there. A list of many takes long, and hosts come in order
    """
    missing = list(hosts)
    while True:
        is_late = runtime.monotonic() > deadline
        if is_late or not one_first or find(name=missing[-1]):
            found = find()
            missing = [host for host in missing if host not in found]
        if not missing:
            return
        if is_late:
            raise exception.Unavailable(
                service='The cloud',
                reason=f'{len(missing)} hosts {what}, for example {min(missing)}',
            )
        runtime.sleep(look_s)
