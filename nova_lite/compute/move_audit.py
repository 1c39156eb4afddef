"""Audit of moves: remove guests that ended moves have left on unreachable hosts.

Only guests of servers of this host are concerned: `audit` removes guests of other hosts' servers.
Guests are not started: such a server is in ERROR, and its user decides what to do. A guest that
was handed over by a live migration, and could not be started, stays: its disks are nowhere else.

A guest that left is restored, unless the server's guest is beside it: a confirmation has not
removed it. That happens after a resize on the same host, or when the server has returned.
"""

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import guest_work
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

LOG = log.getLogger(__name__)
# Roles of guests that an ended move has left.
LEFT = (model.Role.DEPARTED, model.Role.INCOMING)


class MoveAudit:
    """The comparison for all hosts of a site."""

    def __init__(self, site: site.Site) -> None:
        self._site = site

    def run(
        self,
        guests: dict[tuple[str, str], list[model.Guest]],
        records: dict[str, dict[str, conductor_rpc.HostRecord]],
    ) -> None:
        """Undo the unfinished effects of ended moves.

        guests: {(host, node): [Guest, ...]}; records: {host: {server uuid: record}}
        """
        suspects = [
            (host, guest)
            for (host, node), found in guests.items()
            for guest in self._suspects(node, found)
            if _is_idle(records[host].get(guest.uuid))
            and not self._site.jobs.has((host, guest.uuid))
        ]
        if not suspects:
            return
        ended = self._site.conductor.ended_moves(
            context.admin(), instances=sorted({guest.uuid for _host, guest in suspects})
        )
        left = [(host, guest) for host, guest in suspects if guest.uuid in ended]
        replaced = self._replaced(
            [guest for host, guest in left if _is_beside(guest, guests[host, guest.node])]
        )
        for host, guest in left:
            LOG.warning(
                'Cleaning up guest %s on node %s, left by a move that has ended',
                guest.uuid,
                guest.node,
            )
            work = (
                self._forget(guest)
                if guest in replaced
                else self._take_back(guest, ended[guest.uuid])
            )
            self._site.jobs.run((host, guest.uuid), work)

    def _suspects(self, node: str, found: list[model.Guest]) -> list[model.Guest]:
        """Return guests that are in a move according to their node."""
        if not found:
            return []
        copied = {
            job.guest
            for job in self._site.driver.list_jobs(node)
            if job.verb is model.Verb.LIVE_MIGRATE
        }
        return [guest for guest in found if guest.role in LEFT or guest.uuid in copied]

    def _replaced(self, beside: list[model.Guest]) -> list[model.Guest]:
        """Return those guests whose moves were confirmed. beside: see `_is_beside`

        A move that is not confirmed may be reverted, and needs the departed guest.
        """
        if not beside:
            return []
        confirmed = self._site.conductor.confirmed_moves(
            context.admin(), moves=sorted(guest.last_move for guest in beside)
        )
        return [guest for guest in beside if guest.last_move in confirmed]

    def _forget(self, guest: model.Guest) -> guest_work.Work[None]:
        """Remove a departed guest of a confirmed move, and no other; work for `guest_work`."""
        yield from self._ended(
            guest,
            self._site.driver.confirm_migration(
                guest.node, guest.uuid, guest.last_move, key=f'audit/{runtime.new_uuid()}'
            ),
        )

    def _take_back(self, guest: model.Guest, newest: str) -> guest_work.Work[None]:
        """Undo the guest's move; work for `guest_work`. newest: uuid of the server's newest move"""
        if not self._is_left(guest):
            return
        driver, key = self._site.driver, f'audit/{runtime.new_uuid()}'
        if guest.role is model.Role.RESIDENT:
            job = driver.abort_live_migration(guest.node, guest.uuid, newest, key=key)
        else:
            job = take_back(driver, guest, newest, key=key)
        yield from self._ended(guest, job)

    def _ended(self, guest: model.Guest, job: model.Job) -> guest_work.Work[None]:
        """Await a job. A failure is retried by the next audit."""
        try:
            yield from guest_work.ended(job)
        except exception.DriverError as error:
            LOG.warning(
                'Cannot clean up guest %s on node %s: %s. Retrying at the next audit.',
                guest.uuid,
                guest.node,
                error,
            )

    def _is_left(self, guest: model.Guest) -> bool:
        """Return whether a guest is still as it was listed: its move may have ended since."""
        return any(
            (now.uuid, now.role, now.move) == (guest.uuid, guest.role, guest.move)
            for now in self._suspects(guest.node, self._site.driver.list_guests(guest.node))
        )


def take_back(driver: protocol.Driver, guest: model.Guest, newest: str, *, key: str) -> model.Job:
    """Undo the ended move of a guest whose role is in LEFT, of a server of this host.

    A departed guest is restored. A guest that was arriving stays if its move is the newest, and is
    removed otherwise. No guest is started.
    newest: uuid of the server's newest move
    """
    if guest.role is model.Role.DEPARTED:
        return driver.revert_migration(
            guest.node, guest.uuid, guest.last_move, key=key, power_on=False
        )
    # The record has the server here since its source has handed the guest over.
    arrived = guest.last_move == newest
    return driver.rollback_live_migration(
        guest.node, guest.uuid, guest.last_move, key=key, arrived=arrived
    )


def _is_idle(record: conductor_rpc.HostRecord | None) -> bool:
    """Return whether the server is on the host and no work on it is in progress."""
    return record is not None and record['task_state'] is None and not record['hidden']


def _is_beside(guest: model.Guest, found: list[model.Guest]) -> bool:
    """Return whether a guest has departed and its server's guest is there too. found: the node's"""
    return guest.role is model.Role.DEPARTED and any(
        other.uuid == guest.uuid and other.role is model.Role.RESIDENT for other in found
    )
