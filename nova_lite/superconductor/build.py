"""Builds, from the build request, which stores a build, to the cast to the host.

Claim, records in the cell, mapping, cast (reference/nova/create-server 4). The pivot
is the transaction that maps the server and deletes its build request under our
epoch. A super-conductor whose pivot fails finds the reason and undoes only its own effects.
See decision 0013.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from oslo_db import exception as db_exception
from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite.clients import placement
from nova_lite.clients import resource_requests
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import attempts
from nova_lite.db.cell import compute_nodes
from nova_lite.lifecycle import group_policies
from nova_lite.lifecycle import requests
from nova_lite.objects import block_device
from nova_lite.objects import request_spec
from nova_lite.objects import selection
from nova_lite.superconductor import build_writes
from nova_lite.superconductor import bury
from nova_lite.superconductor import silent_hosts
from nova_lite.superconductor import world as worlds

LOG = log.getLogger(__name__)

# {server uuid: [Selection of its host, and of the alternates]}
Chosen: typing.TypeAlias = dict[str, list[selection.Selection]]

# Errors after which a later sweep tries again: another process holds the claim, or placement
# was too busy.
CONFLICTS = (exception.AllocationConflict, exception.ProviderConflict)
# Number of attempts in a row whose claims get different generations, from 2 on.
GENERATIONS = 8


# {server uuid: stored request spec}
Specs: typing.TypeAlias = Mapping[str, dict[str, typing.Any]]


def accepted(connection: sa.Connection, uuids: Sequence[str]) -> tuple[Sequence[rows.Row], Specs]:
    """Return the build requests of servers, and their request specs."""
    found = build_requests.of(connection, uuids, (request_specs.OF_BUILD_REQUEST,))
    return found, {row.instance_uuid: row.spec for row in found if row.spec is not None}


class Build:
    """One attempt at a batch of servers that were asked for together.

    specs: of the build requests, if the caller has read them in the same transaction
    """

    def __init__(
        self,
        world: worlds.World,
        ctxt: context.RequestContext,
        accepted: Iterable[rows.Row],
        specs: Specs | None = None,
    ) -> None:
        self.world, self.ctxt, self._specs = world, ctxt, specs
        self.requests = {request.instance_uuid: request for request in accepted}
        self._away: set[deployment.Cell] = set()

    def run(self) -> None:
        """Build the servers whose build requests still exist."""
        if not self.requests:
            return
        if any(request.epoch for request in self.requests.values()):
            try:
                self._clear_former_attempt()
            except (exception.Unavailable, *CONFLICTS) as error:
                # The lease is kept, so that other builds are tried before this one is tried again.
                LOG.warning('Build of %s is postponed: %s', list(self.requests), error)
                return
        spec = self._spec()
        if spec is None:
            return
        try:
            selections = self._select(spec)
            self._distinguish(spec, selections)
        except CONFLICTS as error:
            # Another process may build the same servers after a repeated message. Otherwise the
            # sweep after the end of the lease continues.
            LOG.warning('Build of %s is postponed: %s', list(self.requests), error)
            return
        except exception.Unavailable as error:
            LOG.warning('Build of %s is postponed: %s', list(self.requests), error)
            self.world.api_db.write(build_requests.expire, self._epochs())
            return
        except exception.NovaLiteError as error:
            if not silent_hosts.are_awaited(self.world, self._epochs(), error):
                bury.bury(self.world, self.ctxt, self.requests.values(), error)
            return
        for cell, chosen in self._by_cell(selections).items():
            self._build_in(cell, chosen)

    def _spec(self) -> request_spec.RequestSpec | None:
        """Return the request spec that the remaining servers share; None if no server remains.

        The user may delete servers of a batch before any of them is scheduled.
        """
        specs = self._specs
        if specs is None:
            specs = self.world.api_db.read(request_specs.stored, self.requests)
        for uuid in set(self.requests) - set(specs):
            LOG.info('Server %s was deleted before it was scheduled', uuid)
            del self.requests[uuid]
        if not self.requests:
            return None
        return request_spec.RequestSpec.restore(specs[next(iter(self.requests))])

    def _select(self, spec: request_spec.RequestSpec) -> Chosen:
        uuids = list(self.requests)
        request = self.requests[uuids[0]]
        spec.num_instances = len(uuids)
        networks = request.arguments.get('requested_networks')
        # While the network is still 'auto' there are no networks to check.
        spec.requested_networks = networks if isinstance(networks, list) else []
        resource_requests.put_in(spec, resource_requests.of_requested(networks))
        wanted = request.arguments.get('destination')
        if wanted:
            destination = spec.destination()
            destination.host, destination.node = wanted.get('host'), wanted.get('node')
        found = self.world.selections.select(
            self.ctxt,
            spec=spec,
            instance_uuids=uuids,
            alternates=request.arguments.get('retry', True),
        )
        return dict(zip(uuids, found, strict=True))

    def _distinguish(self, spec: request_spec.RequestSpec, selections: Chosen) -> None:
        """Give the claims generations that differ from those of former attempts.

        A former owner may have read its claim, and its request to change that claim may arrive
        late. Placement would apply it to the new claim, because it forgets a consumer without
        allocations, which then starts at the same generation again. A first attempt has no former
        claims.
        """
        epoch = max(request.epoch for request in self.requests.values())
        if not epoch:
            return
        claims = [
            (placement.Consumer(uuid, spec.project_id, spec.user_id), json.loads(wanted))
            for uuid, choice in selections.items()
            if (wanted := choice[0].allocation_request) is not None
        ]
        self.world.placement.advance(self.ctxt, claims, 2 + epoch % GENERATIONS)

    def _by_cell(self, selections: Chosen) -> dict[deployment.Cell, Chosen]:
        """Return {cell: {uuid: [Selection, ...]}}; servers in deleted cells are scheduled again.

        The pivot checks that the hosts are still mapped to the cells.
        """
        grouped: dict[deployment.Cell, Chosen] = collections.defaultdict(dict)
        for uuid, choice in selections.items():
            try:
                cell = self.world.cells.get(choice[0].cell_uuid)
            except exception.CellMappingNotFound as error:
                if self._give_back(uuid, choice):
                    self._again({uuid: choice}, [uuid], error)
                continue
            grouped[cell][uuid] = choice
        return grouped

    def _build_in(self, cell: deployment.Cell, chosen: Chosen) -> None:
        try:
            created = self._create_records(cell, chosen)
        except db_exception.DBDuplicateEntry:
            LOG.warning(
                'Servers %s are already in cell %s: another super-conductor builds them',
                list(chosen),
                cell.name,
            )
            return
        try:
            self._check_other_cells(cell, chosen)
        except (exception.GroupPolicyViolated, exception.Unavailable) as error:
            self._start_over(cell, chosen, error)
            return
        for uuid, choice in chosen.items():
            if uuid not in created:
                self._lost(uuid, cell, 'another super-conductor reserved the cell for it')
                continue
            try:
                self._map(uuid, cell.id, choice[0].service_host)
            except exception.StateChanged as error:
                self._lost(uuid, cell, error)
                continue
            except (exception.CellMappingNotFound, exception.HostMappingNotFound) as error:
                self._start_over(cell, {uuid: choice}, error)
                continue
            self._cast(cell, created[uuid], choice)

    def _check_other_cells(self, cell: deployment.Cell, chosen: Chosen) -> None:
        uuid, choice = next(iter(chosen.items()))
        group_policies.check_other_cells(
            self.world,
            self.requests[uuid].arguments.get('options', {}).get('group'),
            cell=cell,
            host=choice[0].service_host,
            own=set(self.requests),
        )

    def _start_over(
        self, cell: deployment.Cell, chosen: Chosen, reason: exception.NovaLiteError
    ) -> None:
        """Remove the servers from a cell. The next sweep schedules them again.

        This is repeated while a cell does not answer; a server is buried after
        [scheduler]max_attempts refusals. If a host has already started a build, the sweep
        maps the server.
        """
        free = []
        for uuid, choice in chosen.items():
            epoch = self.requests[uuid].epoch
            cleared = cell.db.write(attempts.take_back, uuid, epoch, keep_begun=True)
            if cleared and self._give_back(uuid, choice):
                free.append(uuid)
        self._again(chosen, free, reason)

    def _again(self, chosen: Chosen, free: Sequence[str], reason: exception.NovaLiteError) -> None:
        """Leave servers to the next sweep, or bury those that were refused too often.

        free: the servers of which nothing is left in a cell
        """
        again = self._epochs(chosen)
        if free and not getattr(reason, 'transient', False):
            failed = self._epochs(free)
            failures = self.world.api_db.write(build_requests.count_failure, failed)
            most = self.world.conf.scheduler.max_attempts
            over = [uuid for uuid, number in failures.items() if number >= most]
            bury.bury(self.world, self.ctxt, [self.requests[uuid] for uuid in over], reason)
            again = {uuid: epoch for uuid, epoch in again.items() if uuid not in over}
        if again:
            LOG.warning('Rescheduling the build of %s: %s', list(again), reason)
            self.world.api_db.write(build_requests.expire, again)

    def _create_records(
        self, cell: deployment.Cell, chosen: Chosen
    ) -> dict[str, build_writes.Created]:
        entries = [
            build_writes.Entry(self.ctxt, self.requests[uuid], choice)
            for uuid, choice in chosen.items()
        ]
        return self.world.builds.create(cell, entries)

    def _map(self, uuid: str, cell_id: int, host: str | None = None) -> None:
        place = build_writes.Place(uuid, self.requests[uuid].epoch, cell_id, host)
        self.world.builds.place(place)

    def _lost(self, uuid: str, cell: deployment.Cell, reason: object) -> None:
        """Handle a lost pivot: the server was deleted, or another builder has taken it over."""
        LOG.info('Stopping the build of server %s: %s', uuid, reason)
        # The build request is read first: once it is deleted, the mapping no longer changes.
        rival = self.world.api_db.read(build_requests.find, uuid)
        mapping = self.world.api_db.read(instance_mappings.find, uuid)
        if mapping is not None and mapping.cell_id == cell.id:
            return
        # A host may have started the build already; a rival will find that record.
        epoch, begun = self.requests[uuid].epoch, rival is not None
        cell.db.write(attempts.take_back, uuid, epoch, keep_begun=begun)
        if rival is None and mapping is None:
            self.world.placement.delete_allocations(self.ctxt, uuid, force=True)

    def _cast(
        self,
        cell: deployment.Cell,
        created: build_writes.Created,
        choice: list[selection.Selection],
    ) -> None:
        row, devices = created
        found = [block_device.BlockDevice.recorded(device) for device in devices]
        self.world.casts.send(cell, requests.Order(self.ctxt, row, found, choice[0]))

    def give_up(self, error: Exception) -> None:
        """Bury servers whose builds failed too often, with as many of their values as possible.

        The records and the claim of the last attempt are cleaned up first.
        """
        self._clear_former_attempt()
        bury.bury_remains(self.world, self.ctxt, self.requests.values(), error)

    def _clear_former_attempt(self) -> None:
        """Remove the effects of an earlier owner of these builds.

        A record whose host has started the build is kept, and the server is mapped to it.
        """
        for uuid in list(self.requests):
            try:
                cell = self._find_begun(uuid)
            except exception.StaleEpoch as error:
                LOG.warning('Build of %s was taken over: %s', uuid, error)
                del self.requests[uuid]
                continue
            if cell is None:
                continue
            LOG.info('Server %s is already being built in cell %s', uuid, cell.name)
            try:
                self._map(uuid, cell.id)
            except exception.StateChanged as error:
                self._lost(uuid, cell, error)
            del self.requests[uuid]

    def _find_begun(self, uuid: str) -> deployment.Cell | None:
        """Return the cell in which a host builds the server, or None.

        Other records and the claim are removed. Raise Unavailable while the cell of the claim does
        not answer.
        """
        epoch = self.requests[uuid].epoch
        for cell in self.world.cells.every():
            if cell in self._away:
                continue
            try:
                if cell.db.write(attempts.clear, uuid, epoch, keep_begun=not cell.is_cell0):
                    return cell
            except exception.Unavailable:
                if cell.is_cell0:
                    raise
                self._away.add(cell)
        if self._away:
            self._release_elsewhere(uuid)
        else:
            self._release(uuid, None)
        return None

    def _give_back(self, uuid: str, choice: list[selection.Selection]) -> bool:
        """Release the claim of this attempt. Return False if another process has the build."""
        try:
            self._release(uuid, {choice[0].compute_node_uuid})
        except exception.StaleEpoch as error:
            LOG.warning('Build of %s was taken over: %s', uuid, error)
            return False
        return True

    def _release(self, uuid: str, providers: Collection[str] | None) -> None:
        """Release a claim on `providers`, or on all providers.

        Raise StaleEpoch, and release nothing, if the claim may be that of a successor.
        """
        own = self.requests[uuid].epoch

        def is_overtaken() -> bool:
            request = self.world.api_db.read(build_requests.find, uuid)
            if request is None or request.epoch != own:
                seen = 'none' if request is None else request.epoch
                raise exception.StaleEpoch(saga=f'build of {uuid}', seen=seen, epoch=own)
            return False

        self.world.placement.release(self.ctxt, uuid, providers, unless=is_overtaken)

    def _release_elsewhere(self, uuid: str) -> None:
        """Release a claim unless it is on a host of a cell that does not answer.

        A record is created in the cell of the claimed host, and there is only one claim. So a cell
        without a claim has no record and will get none.
        """
        providers = set(self.world.placement.holding(self.ctxt, uuid).allocations)
        if not providers:
            return
        cells = [cell for cell in self.world.cells.every(cell0=False) if cell not in self._away]
        if not any(cell.db.read(compute_nodes.every, uuid=sorted(providers)) for cell in cells):
            raise exception.Unavailable(
                service='A cell', reason=f'server {uuid} may be in one that does not answer'
            )
        self._release(uuid, providers)

    def _epochs(self, uuids: Iterable[str] | None = None) -> dict[str, int]:
        """Return {uuid: epoch} of this attempt for `uuids`, or for all servers."""
        return {uuid: self.requests[uuid].epoch for uuid in uuids or self.requests}
