"""Audit: compare the guests of hypervisors with the cell's records, host by host.

A guest that no server and no move owns is destroyed after a grace period, unless work on it is
in progress or `running_deleted_instance_action` says otherwise. `power_audit` compares power
states, `move_audit` finds remains of moves.
"""

import collections
from collections.abc import Iterable
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.compute import claims
from nova_lite.compute import guest_work
from nova_lite.compute import move_audit
from nova_lite.compute import pace
from nova_lite.compute import power_audit
from nova_lite.compute import site
from nova_lite.conf import base as base_conf
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)

# {host: {server uuid: record}}
Records: typing.TypeAlias = dict[str, dict[str, conductor_rpc.HostRecord]]


class Audit:
    """The periodic comparison, for all hosts of a site."""

    def __init__(self, site: site.Site) -> None:
        self._site = site
        self._strangers: dict[tuple[str, str, str], float] = {}
        self._moves = move_audit.MoveAudit(site)
        self._power = power_audit.PowerAudit(site)
        self._pace = pace.Pace()

    def run(self) -> None:
        """Compare once, with one call of the conductor, and further calls only for differences."""
        hosts = self._site.up_hosts()
        nodes = [(host, node) for host in hosts for node in self._site.nodes[host]]
        # Work in progress when a guest was listed may have ended when its record is read.
        busy = self._site.jobs.keys()
        promised = {node: self._site.claims.held(node) for _host, node in nodes}
        occupied = self._site.driver.occupied_nodes()
        guests = {
            (host, node): self._site.driver.list_guests(node) if node in occupied else []
            for host, node in nodes
        }
        records: Records = collections.defaultdict(dict)
        for record in self._site.conductor.host_records(context.admin(), hosts=hosts):
            records[record['host']][record['uuid']] = record
        busy |= self._site.jobs.keys()
        self._moves.run(guests, records)
        strangers, compared = [], []
        for (host, node), found in guests.items():
            keep = {uuid for where, uuid in busy if where == host}
            self._refresh_claims(
                (host, node),
                found,
                keep=keep | _worked_at(records[host]),
                promised=promised[node],
            )
            strangers += [
                (host, guest)
                for guest in found
                if guest.uuid not in records[host] and guest.uuid not in keep
            ]
            present = {guest.uuid: guest for guest in found if guest.role is model.Role.RESIDENT}
            compared += [
                (record, present.get(record['uuid']))
                for record in records[host].values()
                if record['node'] == node and record['uuid'] not in keep
            ]
        self._power.run(compared, {node: found for (_host, node), found in guests.items()})
        self._clear(strangers)

    def _refresh_claims(
        self,
        place: tuple[str, str],
        found: list[model.Guest],
        *,
        keep: set[str],
        promised: claims.Held,
    ) -> None:
        """Drop claims of guests that are not on the node and will not arrive.

        A move claims resources long before its guest arrives.
        """
        host, node = place
        absent = promised.keys() - {guest.uuid for guest in found} - keep
        if absent:
            keep = keep | set(self._held(host, absent))
        self._site.claims.refresh(node, found, keep, promised)

    def _held(self, host: str, guests: Iterable[str]) -> list[str]:
        return self._site.conductor.held_guests(context.admin(), host=host, guests=sorted(guests))

    def _clear(self, strangers: list[tuple[str, model.Guest]]) -> None:
        """Act on guests without a server that were unknown for the whole grace period."""
        now = runtime.monotonic()
        grace_s = self._site.conf.compute.stray_grace
        seen = {(host, guest.node, guest.uuid): guest for host, guest in strangers}
        self._strangers = {key: self._strangers.get(key, now) for key in seen}
        if not self._is_due():
            return
        due = collections.defaultdict(list)
        for key, guest in seen.items():
            if now - self._strangers[key] >= grace_s and self._action(guest) != base_conf.NOOP:
                due[key[0]].append(guest)
        for host, guests in due.items():
            promised = {guest.node: self._site.claims.held(guest.node) for guest in guests}
            held = self._held(host, {guest.uuid for guest in guests})
            for guest in guests:
                if guest.uuid not in held:
                    self._end(host, guest, promised[guest.node])

    def _is_due(self) -> bool:
        """Return whether this audit acts on guests without a server."""
        interval_s = self._site.conf.running_deleted_instance_poll_interval
        if interval_s <= self._site.conf.compute.audit_interval:
            return bool(interval_s)
        return self._pace.is_due(interval_s)

    def _action(self, guest: model.Guest) -> str:
        """Return the action on a guest without a server. Remains of moves are always removed."""
        if guest.role is not model.Role.RESIDENT:
            return base_conf.REAP
        action: str = self._site.conf.running_deleted_instance_action
        return action

    def _end(self, host: str, guest: model.Guest, promised: claims.Held) -> None:
        """Remove or stop a guest without a server, or only say that it is there."""
        action = self._action(guest)
        if action == base_conf.REAP:
            LOG.warning(
                'Removing guest %s on node %s, which belongs to no server', guest.uuid, guest.node
            )
            self._site.jobs.run((host, guest.uuid), self._remove(guest, promised))
            return
        LOG.warning('Guest %s on node %s belongs to no server', guest.uuid, guest.node)
        if action == base_conf.SHUTDOWN and guest.power_state is not states.PowerState.SHUTDOWN:
            self._site.jobs.run((host, guest.uuid), self._stop(guest))

    def _stop(self, guest: model.Guest) -> guest_work.Work[None]:
        """Power off a guest without a server; work for `guest_work`."""
        try:
            yield from power_audit.switch(self._site, guest.node, guest.uuid, model.PowerAction.OFF)
        except exception.NovaLiteError as error:
            LOG.warning('Cannot stop guest %s on node %s: %s', guest.uuid, guest.node, error)

    def _remove(self, guest: model.Guest, promised: claims.Held) -> guest_work.Work[None]:
        """Remove a guest if it is still as it was listed; work for `guest_work`.

        promised: claims of its node before it was known that the guest belongs to no server
        """
        key = f'audit/{runtime.new_uuid()}'
        if guest.role is model.Role.DEPARTED:
            job = self._site.driver.confirm_migration(
                guest.node, guest.uuid, guest.last_move, key=key
            )
        else:
            job = self._site.driver.destroy(guest.node, guest.uuid, key=key, seen=guest)
        try:
            yield from guest_work.ended(job)
        except exception.DriverError as error:
            LOG.warning(
                'Cannot remove guest %s from node %s: %s. Retrying at the next audit.',
                guest.uuid,
                guest.node,
                error,
            )
            return
        self._site.claims.release_old(guest.node, guest.uuid, promised)


def _worked_at(records: dict[str, conductor_rpc.HostRecord]) -> set[str]:
    """Return the servers of a host that have a task, whose claims sagas may change."""
    return {uuid for uuid, record in records.items() if record['task_state'] is not None}
