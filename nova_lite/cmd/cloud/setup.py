"""First contents of a cloud: schemas, cell mappings, flavors, mapped hosts.

Every function may run again on a cloud that has them.
"""

import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import discovery
from nova_lite import exception
from nova_lite import runtime
from nova_lite.cmd.cloud import layout
from nova_lite.db import engine
from nova_lite.db import migrate
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import seed
from nova_lite.db.cell import compute_nodes

WAIT_S = 60
LOOK_S = 0.1


def databases(places):
    """Create what is missing and bring every schema up to date."""
    if places.settings.database is not None:
        _create_databases(places)
    migrate.upgrade(places.database_url(layout.API), 'api')
    for name in (layout.CELL0, *places.cell_names):
        migrate.upgrade(places.database_url(name), 'cell')


def _create_databases(places):
    url = sa.make_url(places.settings.database)
    if url.get_backend_name() == 'postgresql':
        url = url.set(database='postgres')
    server = sa.create_engine(url, isolation_level='AUTOCOMMIT')
    names = (layout.API, layout.CELL0, layout.PLACEMENT, *places.cell_names)
    with server.connect() as connection:
        known = (
            set(sa.inspect(connection).get_schema_names())
            if url.get_backend_name() != 'postgresql'
            else set(connection.scalars(sa.text('SELECT datname FROM pg_database')))
        )
        for name in names:
            database = sa.make_url(places.database_url(name)).database
            if database not in known:
                quoted = server.dialect.identifier_preparer.quote(database)
                connection.execute(sa.text(f'CREATE DATABASE {quoted}'))
    server.dispose()


def mappings(places, conf):
    """Map cell0 and the cells; add the default flavors to an empty cloud."""
    database = engine.Database(conf.api_database.connection)

    def write(connection):
        known = {row.name for row in cell_mappings.every(connection)}
        wanted = {layout.CELL0: (cells_module.CELL0_UUID, cells_module.NO_BUS)}
        wanted |= {name: (runtime.new_uuid(), places.bus_url(name)) for name in places.cell_names}
        for name, (uuid, bus) in wanted.items():
            if name not in known:
                cell_mappings.create(
                    connection,
                    {
                        'uuid': uuid,
                        'name': name,
                        'transport_url': bus,
                        'disabled': False,
                        'database_connection': places.database_url(name),
                    },
                )
        seed.create_flavors(connection)

    database.write(write)
    database.dispose()


def hosts(places, conf):
    """Wait until every host has reported itself, then map them all."""
    database = engine.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, database)
    try:
        deadline = runtime.monotonic() + WAIT_S + places.settings.hosts * places.settings.cells
        for name in places.cell_names:
            cell = next(cell for cell in cells.every() if cell.name == name)
            _wait_for_nodes(cell, set(places.hosts(name)), deadline)
        discovery.discover_hosts(cells)
    finally:
        cells.close()
        database.dispose()


def _wait_for_nodes(cell, wanted, deadline):
    while True:
        missing = wanted - {node.host for node in cell.db.read(compute_nodes.every)}
        if not missing:
            return
        if runtime.monotonic() > deadline:
            raise exception.Unavailable(
                service=f'Compute of {cell.name}',
                reason=f'{len(missing)} hosts did not report, {sorted(missing)[0]} among them',
            )
        runtime.sleep(LOOK_S)
