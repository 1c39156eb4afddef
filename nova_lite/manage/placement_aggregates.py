"""placement sync_aggregates: copy the members of compute's aggregates to placement."""

from collections.abc import Collection
from collections.abc import Mapping

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.manage import command
from nova_lite.superconductor.audits import memberships


class Refused(Exception):
    """Aggregates cannot be synchronized. code: exit code"""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


@command.verb('placement', command.VERBOSE)
def sync_aggregates(deployment: command.Deployment, args: command.Args) -> int:
    """Add hosts to their aggregates in placement. No host is removed."""
    found = [each for each in deployment.api_db.read(aggregates.every) if each.hosts]
    try:
        nodes = _nodes(deployment, {host for each in found for host in each.hosts})
    except Refused as error:
        print(error)
        return error.code
    names = {each.uuid: each.name for each in found}
    code = 0
    for host in sorted(nodes):
        code = _add(deployment, args, nodes[host], names) or code
    # Makes schedulers drop cached answers of placement, which lack the new members.
    deployment.api_db.write(stamps.bump, stamps.AGGREGATES)
    return code


def _nodes(deployment: command.Deployment, hosts: Collection[str]) -> dict[str, rows.Row]:
    """Return {host: its node}. Raise Refused."""
    every = deployment.cells.every(cell0=False)
    answers, silent = cells_module.split(deployment.cells.scatter(compute_nodes.every, cells=every))
    if silent:
        raise Refused(255, f'Cell {next(iter(silent)).name} does not answer')
    found: dict[str, list[rows.Row]] = {}
    for nodes in answers.values():
        for node in nodes:
            found.setdefault(node.host, []).append(node)
    for host in sorted(hosts):
        try:
            deployment.cells.of_host(host)
        except exception.HostMappingNotFound as error:
            raise Refused(4, str(error)) from None
        if host not in found:
            raise Refused(5, f'Compute host {host} has no node')
        if len(found[host]) > 1:
            raise Refused(1, f'Unexpected number of compute nodes on host {host}')
    return {host: found[host][0] for host in hosts}


def _add(
    deployment: command.Deployment, args: command.Args, node: rows.Row, names: Mapping[str, str]
) -> int:
    """Add a node to its aggregates in placement. Return the exit code. names: {uuid: name}"""
    try:
        joined, _left = memberships.sync(
            deployment.api_db, deployment.placement.providers, node, removes=False
        )
    except exception.ResourceProviderNotFound:
        print(f'Unable to find resource provider {node.hypervisor_hostname} ({node.uuid})')
        return 6
    except exception.ProviderConflict as error:
        print(f'Failed to update aggregates of {node.hypervisor_hostname}: {error}')
        return 3
    except exception.NovaLiteError as error:
        print(f'Request to placement failed: {error}')
        return 2
    if args.verbose:
        for uuid in sorted(joined):
            print(
                f'Provider {node.hypervisor_hostname} ({node.uuid}) was added to aggregate '
                f'{names.get(uuid, "")} ({uuid})'
            )
    return 0
