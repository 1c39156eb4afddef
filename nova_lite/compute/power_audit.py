"""Audit of power states: compare those of hypervisors with the cell's records.

A difference counts only if the guest still differs after its record was read. The cell stores
it only if the record has not changed since, because users and sagas may have changed it. A guest
that runs although its server is stopped or shelved is powered off. Guests that ran before their
node or this process started are started again, if `resume_guests_state_on_host_boot` is set.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.compute import guest_work
from nova_lite.compute import mounts
from nova_lite.compute import pace
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Power = states.PowerState
# States of servers whose guests do not run.
OFF = (states.VmState.STOPPED, states.VmState.SHELVED)


class PowerAudit:
    """The comparison for all hosts of a site."""

    def __init__(self, site: site.Site) -> None:
        self._site = site
        self._pace = pace.Pace()
        # {node: start of its hypervisor} of the nodes at their last audit.
        self._started: dict[str, float] = {}
        # Guests that were off when their node had started, until they are resumed or need not be.
        self._waiting: set[str] = set()

    def run(
        self,
        compared: Iterable[tuple[conductor_rpc.HostRecord, model.Guest | None]],
        guests: Mapping[str, Collection[model.Guest]],
    ) -> None:
        """Report power states that differ, and stop or resume guests.

        compared: [(record, its Guest on the node or None), ...], listed before the records
            were read; without those of servers at which this process works
        guests: {node: its guests} of all nodes of the site that are up, also those without servers
        """
        differing = []
        interval_s = self._site.conf.sync_power_state_interval
        is_due = interval_s >= 0 and self._pace.is_due(interval_s)
        self._note_starts(guests)
        for record, guest in compared:
            host, uuid = record['host'], record['uuid']
            if _has_mounts(record, guest):
                self._site.jobs.run((host, uuid), self._unmount(host, record['node'], uuid))
            resumes = uuid in self._waiting and _ran(record, guest)
            if not resumes:
                self._waiting.discard(uuid)
            if not _differs(record, _power_of(guest)):
                continue
            if resumes:
                self._site.jobs.run((host, uuid), self._resume(host, record['node'], uuid))
                continue
            if not is_due:
                continue
            # The guest's state after the record was read.
            power_state = _power_of(self._find(record['node'], uuid))
            if _runs_wrongly(record, power_state):
                self._site.jobs.run((host, uuid), self._stop(host, record['node'], uuid))
            elif _differs(record, power_state):
                # The version of the record that the host has read.
                seen = {'vm_state': record['vm_state'], 'updated_at': record['updated_at']}
                found = {'uuid': uuid, 'host': host, 'power_state': int(power_state), 'seen': seen}
                differing.append(found)
        if differing:
            self._site.conductor.power_states(context.admin(), states=differing)

    def _note_starts(self, guests: Mapping[str, Collection[model.Guest]]) -> None:
        """Note the guests that are off on nodes that have started since the last audit."""
        if not self._site.conf.resume_guests_state_on_host_boot:
            return
        present = {guest.uuid for found in guests.values() for guest in found}
        self._waiting.intersection_update(present)
        for node, found in guests.items():
            start = self._site.driver.get_facts(node).booted_at
            if self._started.get(node) != start:
                self._started[node] = start
                self._waiting.update(guest.uuid for guest in found if _is_off(guest))

    def _find(self, node: str, uuid: str) -> model.Guest | None:
        try:
            guest = self._site.driver.get_guest(node, uuid)
        except exception.GuestNotFound:
            return None
        return guest if guest.role is model.Role.RESIDENT else None

    def _stop(self, host: str, node: str, uuid: str) -> guest_work.Work[None]:
        """Power off a guest if its server is still recorded as stopped; work for `guest_work`.

        Other work may have run before; later work waits for this.
        """
        try:
            found = self._site.conductor.host_records(
                context.admin(), hosts=[host], instances=[uuid]
            )
            power_state = _power_of(self._find(node, uuid))
            if not any(_runs_wrongly(record, power_state) for record in found):
                return
            LOG.warning(
                'Stopping the guest of server %s on node %s: the server is recorded as stopped',
                uuid,
                node,
            )
            yield from switch(self._site, node, uuid, model.PowerAction.OFF)
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot stop guest %s on node %s, whose server is recorded as stopped: %s',
                uuid,
                node,
                error,
            )

    def _resume(self, host: str, node: str, uuid: str) -> guest_work.Work[None]:
        """Start a guest that ran before its node started; work for `guest_work`.

        The next audit tries again if a service did not answer, or if the server has got a task.
        """
        try:
            mounted = self._mounts_if(host, node, uuid, _may_resume)
            if mounted is None:
                return
            LOG.info('Resuming the guest of server %s after the start of node %s', uuid, node)
            yield from mounted.before(model.PowerAction.ON)
            yield from switch(self._site, node, uuid, model.PowerAction.ON)
            self._waiting.discard(uuid)
        except exception.NovaLiteError as error:
            LOG.warning('Cannot resume guest %s on node %s: %s', uuid, node, error)
            if not error.transient:
                self._waiting.discard(uuid)

    def _unmount(self, host: str, node: str, uuid: str) -> guest_work.Work[None]:
        """Unmount the shares of a guest that is off and whose server is stopped."""
        try:
            mounted = self._mounts_if(host, node, uuid, _has_mounts)
            if mounted is None:
                return
            LOG.info('Unmounting the shares of stopped server %s on node %s', uuid, node)
            yield from mounted.after(model.PowerAction.OFF)
        except exception.NovaLiteError as error:
            LOG.warning('Cannot unmount the shares of server %s: %s', uuid, error)

    def _mounts_if(
        self,
        host: str,
        node: str,
        uuid: str,
        is_meant: Callable[[conductor_rpc.HostRecord, model.Guest | None], bool],
    ) -> mounts.Mounts | None:
        """Return the mounts of a guest, or None unless it is meant with its present record."""
        ctxt = context.admin()
        records = self._site.conductor.host_records(ctxt, hosts=[host], instances=[uuid])
        guest = self._find(node, uuid)
        if not any(is_meant(record, guest) for record in records):
            return None
        found = self._site.conductor.instance_records(ctxt, host=host, instance_uuid=uuid)
        shares = found.get('shares', ())
        return mounts.Mounts(self._site, ctxt, host, node=node, uuid=uuid, shares=shares)


def switch(
    site: site.Site, node: str, uuid: str, action: model.PowerAction
) -> guest_work.Work[None]:
    """Change the power of a guest on behalf of an audit; work for `guest_work`."""
    job = site.driver.change_power(node, uuid, action, key=f'audit/{runtime.new_uuid()}')
    yield from guest_work.ended(job)


def _has_mounts(record: conductor_rpc.HostRecord, guest: model.Guest | None) -> bool:
    """Return whether a guest has shares although it is off and its server is stopped."""
    return (
        guest is not None
        and guest.power_state is Power.SHUTDOWN
        and record['vm_state'] == states.VmState.STOPPED
        and record['task_state'] is None
        and bool(mounts.shares_of(guest))
    )


def _is_off(guest: model.Guest) -> bool:
    return guest.power_state is Power.SHUTDOWN and guest.role is model.Role.RESIDENT


def _ran(record: conductor_rpc.HostRecord, guest: model.Guest | None) -> bool:
    """Return whether a guest is off although its server is recorded as running."""
    return (
        guest is not None
        and guest.power_state is Power.SHUTDOWN
        and record['power_state'] == Power.RUNNING
        and record['vm_state'] == states.VmState.ACTIVE
        and not record['hidden']
    )


def _may_resume(record: conductor_rpc.HostRecord, guest: model.Guest | None) -> bool:
    """Return whether a guest in `_ran` has no other work to wait for."""
    return _ran(record, guest) and record['task_state'] is None


def _power_of(guest: model.Guest | None) -> states.PowerState:
    return guest.power_state if guest else Power.NOSTATE


def _differs(record: conductor_rpc.HostRecord, power_state: states.PowerState) -> bool:
    """Return whether the guest of a server without a task differs from the record."""
    if record['task_state'] is not None or record['hidden']:
        return False
    return (
        _runs_wrongly(record, power_state)
        # A failed action has recorded the power that it found, and has not changed the server's
        # state.
        or states.has_gone_off(record['vm_state'], power_state)
        or power_state != record['power_state']
    )


def _runs_wrongly(record: conductor_rpc.HostRecord, power_state: states.PowerState) -> bool:
    return (
        record['task_state'] is None
        and not record['hidden']
        and record['vm_state'] in OFF
        and power_state is Power.RUNNING
    )
