"""placement audit: find orphaned allocations on compute nodes."""

from collections.abc import Sequence

from nova_lite import context
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.manage import command
from nova_lite.superconductor.audits import orphans
from nova_lite.terminal import progress_display

COLUMNS = {'resource_provider': 'Provider', 'consumer': 'Consumer', 'resources': 'Resources'}
NONE, ERROR, FOUND, DELETED, BAD = 0, 1, 3, 4, 127


@command.verb(
    'placement',
    command.VERBOSE,
    command.flag('--delete', 'delete the orphaned allocations'),
    command.option('--resource_provider', metavar='UUID', help='only this resource provider'),
)
def audit(deployment: command.Deployment, args: command.Args) -> int:
    """Find allocations whose server or migration does not exist."""
    wanted = args.resource_provider
    try:
        roots = orphans.roots_of(deployment.placement.providers.list(context.admin()))
        if wanted and wanted not in roots:
            print(f'Resource provider with UUID {wanted} does not exist.')
            return BAD
        held = _held(deployment, [wanted] if wanted else list(roots))
        records = orphans.read_records(deployment.api_db, deployment.cells, roots)
        found = []
        for uuid, consumer, resources in held:
            node = records.node_of(uuid)
            if node is None or records.accounts_for(consumer, node):
                continue
            found.append((uuid, consumer, resources))
            if args.verbose and not args.json:
                _report(node, uuid, consumer, resources)
            if args.delete:
                deployment.placement.release(context.admin(), consumer, {uuid})
    except exception.NovaLiteError as error:
        print(f'Cannot finish the audit: {error}')
        return ERROR
    if args.json:
        command.print_list(deployment, args, COLUMNS, found)
    if not found:
        return NONE
    if not args.json:
        print(f'{"Deleted" if args.delete else "Found"} {len(found)} orphaned allocations.')
    return DELETED if args.delete else FOUND


def _held(
    deployment: command.Deployment, providers: Sequence[str]
) -> list[tuple[str, str, dict[str, int]]]:
    """Return [(provider uuid, consumer, resources)] of all allocations on the providers."""
    found: list[tuple[str, str, dict[str, int]]] = []
    with progress_display.Count('resource providers', len(providers)) as count:
        for uuid in providers:
            count.add()
            found += orphans.held(deployment.placement, uuid)
    return found


def _report(node: rows.Row, provider: str, consumer: str, resources: dict[str, int]) -> None:
    print(
        f'Allocations were set against consumer UUID {consumer} but no existing instances '
        f'or active migrations are related. Resource provider: {node.hypervisor_hostname} '
        f'({provider}), resources: {resources}'
    )
