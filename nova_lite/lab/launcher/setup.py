"""The first contents of a cloud: schemas, cell mappings, flavors and host mappings.

Each function can be repeated on a cloud that has the contents.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence
import functools
import os

from oslo_config import cfg
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
from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import first_flavors
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lifecycle import discovery
from nova_lite.terminal import plurals

WAIT_S = 60
LOOK_S = 0.1
# Up to this number of hosts, each poll lists all of them. With more hosts, a poll looks for one.
LISTED = 100
# Hosts for each additional second between two polls, which limits the load of polling.
LOOKS_AT = 20000
# A compute writes the traits of a provider and then its inventory; each makes a new generation.
WITH_INVENTORY = 2


def databases(places: layout.Layout, *, fresh: bool = False) -> None:
    """Create missing databases, and upgrade all schemas."""
    create_databases(places, fresh=fresh)
    schema_migration.upgrade(places.database_url(layout.API), 'api')
    _copy_cell0(places)
    for name in places.cell_names:
        schema_migration.upgrade(places.database_url(name), 'cell')


def _copy_cell0(places: layout.Layout) -> None:
    """Upgrade cell0. If its file is new, copy its schema to the missing files of cells.

    The revisions of each further cell would take as long as those of cell0.
    """
    path = places.path('db', f'{layout.CELL0}.sqlite')
    is_new = not os.path.exists(path)
    schema_migration.upgrade(places.database_url(layout.CELL0), 'cell')
    if is_new and places.settings.database is None:
        for name in places.cell_names:
            target = places.path('db', f'{name}.sqlite')
            if not os.path.exists(target):
                sqlite_copies.copy(path, target)


def create_databases(places: layout.Layout, *, fresh: bool = False) -> None:
    """Create missing databases on a server. SQLite creates its files itself.

    fresh: drop the databases of this cloud first
    Raise ValueError if the server rejects the credentials, Unavailable if it does not answer.
    """
    if places.settings.database is None:
        return
    with database_servers.connected(places.settings.database) as connection:
        _create_missing(places, connection, fresh)


def _create_missing(places: layout.Layout, connection: sa.Connection, fresh: bool) -> None:
    known = database_servers.names(connection)
    for name in (layout.API, layout.CELL0, layout.PLACEMENT, *places.cell_names):
        database = places.database_name(name)
        if fresh and database in known:
            database_servers.drop(connection, database)
        if fresh or database not in known:
            database_servers.create(connection, database)


def mappings(places: layout.Layout, conf: cfg.ConfigOpts) -> None:
    """Write the current URLs of cell0 and the cells, and the default flavors of an empty cloud."""
    database = transactions.Database(conf.api_database.connection)

    def write(connection: sa.Connection) -> None:
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


def hosts(places: layout.Layout, conf: cfg.ConfigOpts) -> None:
    """Wait until all hosts have reported, map them, and wait until placement has them."""
    database = transactions.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, database)
    try:
        count = sum(len(places.hosts(name)) for name in places.cell_names)
        deadline = runtime.monotonic() + WAIT_S + count
        for name in places.cell_names:
            cell = next(cell for cell in cells.every() if cell.name == name)
            _wait(
                places.hosts(name),
                functools.partial(cell.db.read, compute_nodes.hosts),
                f'did not report to {cell.name}',
                deadline=deadline,
            )
        discovery.discover_hosts(cells)
        client = placement.Placement(auth.Credentials(conf))
        _wait(
            [host for name in places.cell_names for host in places.hosts(name)],
            functools.partial(_registered, client),
            'are not registered in placement',
            deadline=deadline,
            look_s=LOOK_S + count / LOOKS_AT,
            one_first=count > LISTED,
        )
    finally:
        cells.close()
        database.dispose()


def _registered(client: placement.Placement, **filters: str) -> set[str]:
    return {
        provider.name
        for provider in client.providers.list(context.admin(), **filters)
        if provider.generation >= WITH_INVENTORY
    }


def _wait(
    hosts: Sequence[str],
    find: Callable[..., Collection[str]],
    what: str,
    *,
    deadline: float,
    look_s: float = LOOK_S,
    one_first: bool = False,
) -> None:
    """Wait until all hosts are found. Raise Unavailable after the deadline.

    find: function that returns the names of the hosts that have reported
    what: end of the message; look_s: seconds between two calls of `find`
    one_first: call find(name=the last missing host) until it finds the host, and find() only
        then: a list of many hosts takes long, and hosts report in order
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
                reason=f'{plurals.of(len(missing), "host")} {what}, for example {min(missing)}',
            )
        runtime.sleep(look_s)
