"""cell_v2: mappings of compute hosts, and the setup of a first cell."""

from oslo_db import exception as db_exception

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.lifecycle import discovery
from nova_lite.lifecycle import host_use
from nova_lite.manage import cells
from nova_lite.manage import command

ONE_CELL = command.option('--cell_uuid', metavar='UUID', help='only this cell')
COLUMNS = {'cell_name': 'Cell Name', 'cell_uuid': 'Cell UUID', 'host': 'Hostname'}


@command.verb(
    'cell_v2',
    ONE_CELL,
    command.VERBOSE,
    command.flag('--strict', 'exit with 1 if no new host is found'),
    command.option(
        '--by-service',
        action='store_true',
        help='also map hosts that have a compute service and no node yet',
    ),
)
def discover_hosts(deployment: command.Deployment, args: command.Args) -> int:
    """Map new hosts to their cells."""
    cell = cells.find(deployment, args.cell_uuid) if args.cell_uuid else None
    if args.cell_uuid and cell is None:
        return 1
    only = None if cell is None else [cell]
    try:
        found = discovery.discover_hosts(deployment.cells, only=only, by_service=args.by_service)
    except db_exception.DBDuplicateEntry:
        print('ERROR: Duplicate host mapping was encountered. Is another discovery running?')
        return 2
    new = [(cell, host) for cell, hosts in found.items() for host in hosts]
    deployment.found['hosts'] = [
        dict(zip(COLUMNS, (cell.name or '', cell.uuid, host), strict=True)) for cell, host in new
    ]
    if args.verbose:
        for cell, host in new:
            print(f'Mapped host {host} to cell {cell.name} ({cell.uuid})')
    return 1 if args.strict and not new else 0


@command.verb('cell_v2', ONE_CELL)
def list_hosts(deployment: command.Deployment, args: command.Args) -> int:
    """List the mapped hosts of all cells or of one cell."""
    only = cells.find(deployment, args.cell_uuid) if args.cell_uuid else None
    if args.cell_uuid and only is None:
        return 1
    searched = deployment.cells.every() if only is None else [only]
    lines = [
        (cell.name or '', cell.uuid, mapping.host)
        for cell in searched
        for mapping in deployment.api_db.read(host_mappings.every, cell.id)
    ]
    command.print_list(deployment, args, COLUMNS, lines)
    return 0


@command.verb(
    'cell_v2',
    cells.UUID,
    command.option('--host', required=True, metavar='HOST', help='name of the host'),
)
def delete_host(deployment: command.Deployment, args: command.Args) -> int:
    """Delete the mapping of a host without servers and moves."""
    cell = cells.find(deployment, args.cell_uuid)
    if cell is None:
        return 1
    try:
        mapping = deployment.api_db.read(host_mappings.get, args.host)
    except exception.HostMappingNotFound:
        print(f'The host {args.host} was not found.')
        return 2
    if mapping.cell_id != cell.id:
        print(f'The host {args.host} was not found in the cell {cell.uuid}.')
        return 3
    # Refused before a discovery can find the host unmapped; decided in `host_use.unmap`.
    use = host_use.find(deployment.cells, cell, args.host)
    if use is None:
        cell.db.write(compute_nodes.set_mapped, [args.host], mapped=False)
        use = deployment.api_db.write(host_use.unmap, args.host, deployment.cells, cell)
    if use is not None:
        cell.db.write(compute_nodes.set_mapped, [args.host])
        print(f'There are {use} the host {args.host}.')
        return 4
    # A discovery between the two writes has found the mapping, and marked the host as mapped.
    cell.db.write(compute_nodes.set_mapped, [args.host], mapped=False)
    return 0


# ---- a first cell -------------------------------------------------------------


@command.verb('cell_v2', cells.BUS)
def simple_cell_setup(deployment: command.Deployment, args: command.Args) -> int:
    """Map cell0 and one cell with all its hosts."""
    cells.ensure_cell0(deployment)
    cell = _map_cell_and_hosts(deployment, args.transport_url)
    return 0 if cell and deployment.api_db.read(host_mappings.every, cell.id) else 1


@command.verb('cell_v2', cells.NAME, cells.BUS, command.VERBOSE)
def map_cell_and_hosts(deployment: command.Deployment, args: command.Args) -> int:
    """Map the cell of the configured database with all its hosts."""
    cell = _map_cell_and_hosts(deployment, args.transport_url, args.name)
    if cell is None:
        return 1
    if args.verbose:
        print(cell.uuid)
    return 0


def _map_cell_and_hosts(
    deployment: command.Deployment, bus: str | None, name: str | None = None
) -> cells_module.Cell | None:
    """Return the cell. If the bus or the database is not given, print that and return None."""
    bus = bus or deployment.conf.transport_url
    if not bus or not cells.is_url(bus):
        print('Must specify --transport-url if [DEFAULT]/transport_url is not set.')
        return None
    if not deployment.cell_url:
        print('[database]/connection is not set.')
        return None
    known = [cell for cell in deployment.cells.every() if cell.urls == (bus, deployment.cell_url)]
    uuid = known[0].uuid if known else runtime.new_uuid()
    if not known:
        cells.add(deployment, uuid, name, bus=bus, url=deployment.cell_url)
    deployment.found['uuid'] = uuid
    cell = deployment.cells.get(uuid)
    discovery.discover_hosts(deployment.cells, only=[cell])
    if not deployment.api_db.read(host_mappings.every, cell.id):
        print('No hosts found to map to cell, exiting.')
    return cell
