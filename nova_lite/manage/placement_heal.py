"""placement heal_allocations: create missing allocations of servers."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite.clients import holdings
from nova_lite.clients import offers
from nova_lite.clients import placement
from nova_lite.db import rows
from nova_lite.db.api import request_specs
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.manage import command
from nova_lite.scheduler import query
from nova_lite.terminal import progress_display

DONE, MORE, NO_NODE, FAILED, NOTHING, BAD = 0, 1, 2, 3, 4, 127


@dataclasses.dataclass
class Tally:
    """The result of a run. left: largest number of servers to heal; None: no limit"""

    left: int | None
    healed: int = 0
    code: int = DONE

    @property
    def is_used_up(self) -> bool:
        """Return whether as many servers were healed as the run may heal."""
        return self.left is not None and self.healed >= self.left


@command.verb(
    'placement',
    command.option('--max-count', type=int, metavar='N', help='largest number of servers to heal'),
    command.VERBOSE,
    command.flag('--dry-run', 'only print the allocations that would be created'),
    command.option('--instance', metavar='UUID', help='only this server'),
    command.flag(
        '--skip-port-allocations',
        'ignored, because allocations of ports are never changed; accepted for scripts',
    ),
    command.option('--cell', metavar='UUID', help='only this cell'),
    command.flag('--force', 'with --instance: replace the existing allocations'),
)
def heal_allocations(deployment: command.Deployment, args: command.Args) -> int:
    """Create missing allocations of servers."""
    problem = _problem(args)
    if problem:
        print(problem)
        return BAD
    try:
        searched = _cells(deployment, args)
    except (exception.CellMappingNotFound, exception.InstanceNotFound) as error:
        print(error)
        return BAD
    tally = Tally(args.max_count)
    for cell in searched:
        _heal_cell(deployment, args, cell, tally)
        deployment.found['healed'] = tally.healed
        if tally.code:
            return tally.code
        if tally.is_used_up:
            print(f'Max count reached. Processed {tally.healed} instances.')
            return MORE
    if args.verbose or tally.healed:
        print(f'Processed {tally.healed} instances.')
    return DONE if tally.healed and not args.dry_run else NOTHING


def _problem(args: command.Args) -> str | None:
    if args.max_count is not None and args.max_count < 1:
        return 'Must supply a positive integer for --max-count.'
    if args.cell and args.instance:
        return 'The --cell and --instance options are mutually exclusive.'
    if args.force and not args.instance:
        return 'The --instance flag is required when using --force flag.'
    return None


def _cells(deployment: command.Deployment, args: command.Args) -> list[cells_module.Cell]:
    if args.cell:
        return [deployment.cells.get(args.cell)]
    if args.instance:
        return [deployment.cells.of_instance(args.instance)]
    return deployment.cells.every(cell0=False)


def _heal_cell(
    deployment: command.Deployment, args: command.Args, cell: cells_module.Cell, tally: Tally
) -> None:
    nodes = {
        (node.host, node.hypervisor_hostname): node.uuid
        for node in cell.db.read(compute_nodes.every)
    }
    servers = cell.db.read(instances.settled)
    with progress_display.Count(f'servers of {cell.name}', len(servers)) as count:
        for row in servers:
            if tally.is_used_up or tally.code:
                return
            if args.instance in (None, row.uuid):
                _heal(deployment, args, row, nodes.get((row.host, row.node)), tally=tally)
            count.add()


def _heal(
    deployment: command.Deployment,
    args: command.Args,
    row: rows.Row,
    provider: str | None,
    *,
    tally: Tally,
) -> None:
    ctxt = context.admin()
    if provider is None:
        print(f'Compute node {row.node} of instance {row.uuid} could not be found')
        tally.code = NO_NODE
        return
    held = deployment.placement.holding(ctxt, row.uuid)
    if held and not args.force:
        return
    try:
        choices = _choices(deployment, row)
        if args.verbose or args.dry_run:
            mode = '[dry-run] ' if args.dry_run else ''
            print(f'{mode}Allocations of {row.uuid}: {provider}: {choices[0]}')
        tally.healed += 1
        if args.dry_run:
            return
        # A claim on a missing provider leaves a consumer, with which the next claim fails.
        deployment.placement.providers.get(ctxt, provider)
        others = _of_others(deployment, ctxt, held, provider, choices=choices)
        claimed = any(
            _put(deployment, ctxt, row, held, {**others, provider: each}) for each in choices
        )
    except exception.NovaLiteError as error:
        claimed = False
        print(error)
    if not claimed:
        print(f'Failed to create allocations of instance {row.uuid}')
        tally.code = FAILED


def _of_others(
    deployment: command.Deployment,
    ctxt: context.RequestContext,
    held: holdings.Holding,
    node: str,
    *,
    choices: Sequence[Mapping[str, int]],
) -> holdings.Allocations:
    """Return the allocations of ports and devices below a node, which must stay as they are.

    choices: the amounts that the flavor may ask for
    """
    asked = {name for each in choices for name in each}
    found = {
        provider: resources
        for provider, resources in held.besides({node}).items()
        if asked.isdisjoint(resources)
    }
    if not found:
        return {}
    tree = {each.uuid for each in deployment.placement.providers.list(ctxt, in_tree=node)}
    return {provider: found[provider] for provider in tree & found.keys()}


def _put(
    deployment: command.Deployment,
    ctxt: context.RequestContext,
    row: rows.Row,
    held: holdings.Holding,
    amounts: holdings.Allocations,
) -> bool:
    """Replace the allocations of a server. Return whether the resources were available.

    There is one request, so that a failure does not change the existing allocations.
    """
    wanted: offers.Wanted = {
        provider: {'resources': resources} for provider, resources in amounts.items()
    }
    consumer = placement.Consumer(row.uuid, row.project_id, row.user_id)
    if held:
        return deployment.placement.replace(ctxt, consumer, wanted, held.generation)
    return deployment.placement.claim(ctxt, consumer, {'allocations': wanted})


def _choices(deployment: command.Deployment, row: rows.Row) -> list[dict[str, int]]:
    """Return possible amounts, the best first: some hosts have no PCPU for dedicated CPUs."""
    spec = deployment.api_db.read(request_specs.stored, [row.uuid]).get(row.uuid, {})
    found = [query.held(row.flavor, spec, pinned=pinned) for pinned in (True, False)]
    return found if found[0] != found[1] else found[:1]
