"""cell_v2: mappings of cells."""

import re
import urllib.parse

import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.manage import cell_urls
from nova_lite.manage import command
from nova_lite.rpc import transport

UUID = command.option('--cell_uuid', required=True, metavar='UUID', help='uuid of the cell')
NAME = command.option('--name', metavar='NAME', help='name of the cell')
BUS = command.option(
    '--transport-url', '--transport_url', metavar='URL', help='URL of the message bus of the cell'
)
DATABASE = command.option(
    '--database_connection', metavar='URL', help='URL of the database of the cell'
)
# Columns of a mapping that no other cell may have, in the order of `cell_urls.check`.
URLS = ('transport_url', 'database_connection')
SCHEME = re.compile(r'[a-z][a-z0-9+.-]*://', re.IGNORECASE)
SECRET = re.compile(r'([?&][^=&]*password=)[^&]*')
COLUMNS = {
    'name': 'Name',
    'uuid': 'UUID',
    'transport_url': 'Transport URL',
    'database_connection': 'Database Connection',
    'disabled': 'Disabled',
}
# Why `delete_cell` refuses under its lock, and its codes.
HOSTS = 'Hosts were mapped to cell with uuid {uuid} meanwhile.'
SERVERS = 'Servers were mapped to cell with uuid {uuid} meanwhile.'
MOVES = 'There are migrations in progress in cell with uuid {uuid}.'
REFUSED = {HOSTS: 2, SERVERS: 3, MOVES: 3}


class Clash(exception.Invalid):
    msg = (
        'The specified transport_url and/or database_connection combination already exists for '
        'cell %(name)s(%(uuid)s).'
    )


@command.verb('cell_v2', DATABASE)
def map_cell0(deployment: command.Deployment, args: command.Args) -> int:
    """Map cell0, which holds servers that could not be scheduled."""
    if ensure_cell0(deployment, args.database_connection):
        return 0
    print('Cell0 is already setup')
    return 0


def ensure_cell0(deployment: command.Deployment, url: str | None = None) -> bool:
    """Map cell0 if it is not mapped. Return whether the mapping is new. Raise Invalid."""
    if any(cell.is_cell0 for cell in deployment.cells.every()):
        return False
    database = url or default_cell0_url(deployment.cell_url)
    add(deployment, cell_mappings.CELL0_UUID, 'cell0', bus=transport.NO_BUS, url=database)
    return True


def default_cell0_url(url: str | None) -> str:
    """Return a database URL with _cell0 appended to the name. Raise Invalid if there is no URL."""
    if not url:
        raise exception.Invalid(reason='use --database_connection or set [database]connection')
    found = sa.make_url(url)
    return found.set(database=f'{found.database}_cell0').render_as_string(hide_password=False)


@command.verb(
    'cell_v2',
    NAME,
    BUS,
    DATABASE,
    command.VERBOSE,
    command.flag('--disabled', 'do not schedule servers to the cell'),
)
def create_cell(deployment: command.Deployment, args: command.Args) -> int:
    """Map a cell by its message bus and database."""
    bus = args.transport_url or deployment.conf.transport_url
    url = args.database_connection or deployment.cell_url
    if not bus or not is_url(bus):
        print('Must specify --transport-url if [DEFAULT]/transport_url is not set.')
        return 1
    if not url:
        print('Must specify --database_connection if [database]/connection is not set.')
        return 1
    uuid = runtime.new_uuid()
    try:
        add(deployment, uuid, args.name, bus=bus, url=url, disabled=args.disabled)
    except cell_urls.Unusable as error:
        print(error)
        return 1
    except Clash as error:
        print(error)
        return 2
    deployment.found['uuid'] = uuid
    if args.verbose:
        print(uuid)
    return 0


@command.verb('cell_v2', command.flag('--verbose', 'show passwords'))
def list_cells(deployment: command.Deployment, args: command.Args) -> int:
    """List the cells."""
    lines = []
    for row in sorted(deployment.api_db.read(cell_mappings.every), key=lambda row: row.name or ''):
        urls = [row.transport_url, row.database_connection]
        if not args.verbose:
            urls = [masked(url) for url in urls]
        lines.append((row.name or '', row.uuid, *urls, row.disabled))
    command.print_list(deployment, args, COLUMNS, lines)
    return 0


@command.verb(
    'cell_v2',
    UUID,
    NAME,
    BUS,
    DATABASE,
    command.flag('--disable', 'do not schedule servers to the cell'),
    command.flag('--enable', 'schedule servers to the cell again'),
)
def update_cell(deployment: command.Deployment, args: command.Args) -> int:
    """Change a cell mapping; omitted URLs are taken from the configuration."""
    try:
        row = deployment.api_db.read(cell_mappings.get, args.cell_uuid)
    except exception.CellMappingNotFound:
        print(f'Cell with uuid {args.cell_uuid} was not found.')
        return 1
    if args.enable and args.disable:
        print('Cell cannot be disabled and enabled at the same time.')
        return 4
    if row.uuid == cell_mappings.CELL0_UUID and (args.enable or args.disable):
        print('Cell0 cannot be disabled.')
        return 5
    values = _changes(deployment, args, row)
    try:
        if any(getattr(row, name) != values[name] for name in URLS):
            cell_urls.check(deployment, *(values[name] for name in URLS))
        deployment.api_db.write(_update, row.uuid, values)
    except Clash as error:
        print(error)
        return 3
    except exception.NovaLiteError as error:
        print(f'Unable to update CellMapping: {error}')
        return 2
    return 0


def _changes(deployment: command.Deployment, args: command.Args, row: rows.Row) -> rows.Values:
    values = {
        'transport_url': args.transport_url or deployment.conf.transport_url or row.transport_url,
        'database_connection': args.database_connection
        or deployment.cell_url
        or row.database_connection,
    }
    if row.uuid == cell_mappings.CELL0_UUID and not args.transport_url:
        values['transport_url'] = row.transport_url
    if args.name:
        values['name'] = args.name
    if args.enable or args.disable:
        values['disabled'] = args.disable
    return values


@command.verb(
    'cell_v2',
    command.flag('--force', 'also delete the mappings of its hosts and deleted servers'),
    UUID,
)
def delete_cell(deployment: command.Deployment, args: command.Args) -> int:
    """Delete the mapping of a cell without servers and moves."""
    cell = find(deployment, args.cell_uuid)
    if cell is None:
        return 1
    if deployment.api_db.read(host_mappings.every, cell.id) and not args.force:
        print(f'There are existing hosts mapped to cell with uuid {cell.uuid}.')
        return 2
    uuids = deployment.api_db.read(_mapped, cell.id)
    present = cell.db.read(instances.of, uuids) if uuids else ()
    if present:
        print(f'There are existing instances mapped to cell with uuid {cell.uuid}.')
        return 3
    if uuids and not args.force:
        print(
            f'There are instance mappings to cell with uuid {cell.uuid}, but all instances '
            'have been deleted in the cell. Run `db archive_deleted_rows` to drop them.'
        )
        return 4
    hosts = [row.host for row in deployment.api_db.read(host_mappings.every, cell.id)]
    # First, since a command that is killed cannot be repeated once the cell is gone.
    _mark(deployment, cell, hosts, mapped=False)
    refusal = deployment.api_db.write(_delete, deployment, cell, uuids, force=args.force)
    if refusal is None:
        return 0
    _mark(deployment, cell, hosts, mapped=True)
    print(refusal.format(uuid=cell.uuid))
    return REFUSED[refusal]


# ---- parts ------------------------------------------------------------------


def find(deployment: command.Deployment, uuid: str) -> cells_module.Cell | None:
    """Return a cell. If it does not exist, print that and return None."""
    try:
        return deployment.cells.get(uuid)
    except exception.CellMappingNotFound:
        print(f'Cell with uuid {uuid} was not found.')
        return None


def add(
    deployment: command.Deployment,
    uuid: str,
    name: str | None,
    *,
    bus: str,
    url: str,
    disabled: bool = False,
) -> None:
    """Map a cell. All daemons notice the change. Raise Clash, cell_urls.Unusable.

    bus, url: URLs of its bus and database
    """
    cell_urls.check(deployment, bus, url)
    values = {
        'uuid': uuid,
        'name': name,
        'transport_url': bus,
        'database_connection': url,
        'disabled': disabled,
    }
    deployment.api_db.write(_add, values)
    deployment.cells.every()


def is_url(text: str) -> bool:
    """Return whether the text looks like the URL of a bus."""
    return SCHEME.match(text) is not None


def masked(url: str) -> str:
    """Return a URL with all passwords masked, also passwords in its query."""
    url = SECRET.sub(r'\1****', url)
    parts = urllib.parse.urlsplit(url)
    if parts.password is None:
        return url
    return url.replace(f':{parts.password}@', ':****@')


def _add(connection: sa.Connection, values: rows.Values) -> None:
    # The second of two concurrent commands waits here, and then reads the change of the first.
    stamps.bump(connection, stamps.CELLS)
    _refuse_clash(connection, values, values['uuid'])
    cell_mappings.create(connection, values)


def _update(connection: sa.Connection, uuid: str, values: rows.Values) -> None:
    stamps.bump(connection, stamps.CELLS)
    _refuse_clash(connection, values, uuid)
    cell_mappings.update(connection, uuid, values)


def _refuse_clash(connection: sa.Connection, values: rows.Values, uuid: str) -> None:
    """Raise Clash if a cell other than `uuid` has the bus or the database of `values`."""
    for row in cell_mappings.every(connection):
        if row.uuid != uuid and any(getattr(row, name) == values[name] for name in URLS):
            raise Clash(name=row.name, uuid=row.uuid)


def _mapped(connection: sa.Connection, cell_id: int) -> list[str]:
    table = instance_mappings.TABLE
    return list(
        connection.scalars(sa.select(table.c.instance_uuid).where(table.c.cell_id == cell_id))
    )


def _is_moving(deployment: command.Deployment, cell: cells_module.Cell) -> bool:
    """Return whether a cell has moves in progress, also from or to another cell.

    A cell whose database is lost can be deleted.
    """
    answer = deployment.cells.scatter(migrations.in_progress, cells=[cell])[cell]
    if isinstance(answer, cells_module.Unreachable):
        print(f'Not looking for migrations in cell with uuid {cell.uuid}: {answer.error}')
        return False
    return bool(answer)


def _mark(
    deployment: command.Deployment, cell: cells_module.Cell, hosts: list[str], *, mapped: bool
) -> None:
    """Record in the cell whether its hosts are mapped; see `discovery.discover_hosts`."""
    scatter, change = deployment.cells.scatter, compute_nodes.set_mapped
    answer = scatter(change, hosts, mapped=mapped, cells=[cell], writes=True)[cell]
    if isinstance(answer, cells_module.Unreachable):
        print(f'Hosts of cell with uuid {cell.uuid} keep their marks: {answer.error}')


def _delete(
    connection: sa.Connection,
    deployment: command.Deployment,
    cell: cells_module.Cell,
    uuids: list[str],
    *,
    force: bool,
) -> str | None:
    """Delete a cell with its mappings. Return why it is not deleted, see REFUSED, or None.

    uuids: servers whose mappings are deleted; force: whether those of hosts are
    """
    stamps.bump(connection, stamps.CELLS)
    # Nothing is mapped to the cell from here on: see cell_mappings.hold.
    rows.lock(connection, cell_mappings.TABLE, uuid=cell.uuid)
    if _is_moving(deployment, cell):
        return MOVES
    if host_mappings.every(connection, cell.id) and not force:
        return HOSTS
    if set(_mapped(connection, cell.id)) - set(uuids):
        return SERVERS
    servers = list(_mapped(connection, cell.id))
    server_groups.leave(connection, servers)
    rows.delete(connection, request_specs.TABLE, instance_uuid=servers)
    for table in (instance_mappings.TABLE, host_mappings.TABLE):
        connection.execute(table.delete().where(table.c.cell_id == cell.id))
    cell_mappings.destroy(connection, cell.uuid)
    return None
