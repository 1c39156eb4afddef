"""Audit of moves: remove guests that ended moves have left on unreachable hosts.

Only guests of servers of this host are concerned: `audit` removes guests of other hosts' servers.
Guests are not started: such a server is in ERROR, and its user decides what to do.
"""

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import guest_work
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)
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
        for host, guest in suspects:
            if guest.uuid in ended:
                LOG.warning(
                    'Cleaning up guest %s on node %s, left by a move that has ended',
                    guest.uuid,
                    guest.node,
                )
                work = self._take_back(guest, ended[guest.uuid])
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

    def _take_back(self, guest: model.Guest, newest: str) -> guest_work.Work[None]:
        """Undo the guest's move; work for `guest_work`. newest: uuid of the server's newest move"""
        if not self._is_left(guest):
            return
        driver, key = self._site.driver, f'audit/{runtime.new_uuid()}'
        if guest.role is model.Role.RESIDENT:
            job = driver.abort_live_migration(guest.node, guest.uuid, newest, key=key)
        elif guest.role is model.Role.INCOMING:
            job = driver.rollback_live_migration(guest.node, guest.uuid, guest.last_move, key=key)
        else:
            job = driver.revert_migration(
                guest.node, guest.uuid, guest.last_move, key=key, power_on=False
            )
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


def _is_idle(record: conductor_rpc.HostRecord | None) -> bool:
    """Return whether the server is on the host and no work on it is in progress."""
    return record is not None and record['task_state'] is None and not record['hidden']
