"""Shares of a server: its host mounts them before the guest starts, and unmounts them after.

A guest that starts gets exactly the shares that it may have: shares that a lost message has left
are unplugged. Source: reference/nova/api-surface 2.3.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Status = states.ShareStatus
# Statuses of shares that a saga is attaching or detaching; they are not mounted.
BETWEEN = (Status.ATTACHING, Status.DETACHING)
STARTING = (
    model.PowerAction.ON,
    model.PowerAction.HARD_REBOOT,
    model.PowerAction.RESCUE,
    model.PowerAction.UNRESCUE,
)


class ShareNotMounted(exception.NovaLiteError):
    msg = 'Share %(share_id)s cannot be mounted: %(reason)s'


class Mounts:
    """The shares of one server on its node. shares: as the conductor reports them

    The attribute `shares` has those that the guest gets when it starts.
    """

    def __init__(
        self,
        site: site.Site,
        ctxt: context.RequestContext,
        host: str,
        *,
        node: str,
        uuid: str,
        shares: Sequence[conductor_rpc.Share],
    ) -> None:
        self._site, self._ctxt, self._host = site, ctxt, host
        self.node, self.uuid = node, uuid
        self.shares = [share for share in shares if share['status'] not in BETWEEN]

    def before(self, power: model.PowerAction | None) -> guest_work.Work[None]:
        """Mount the shares if the guest is about to start. Raise ShareNotMounted."""
        if power not in STARTING:
            return
        plugged = self._plugged()
        wanted = {share['share_id'] for share in self.shares}
        yield from self._unplug([device for device in plugged if device.id not in wanted])
        for share in self.shares:
            try:
                yield from self._mount(share)
            except exception.NovaLiteError as error:
                share['status'] = Status.ERROR
                yield from self._report({share['uuid']: Status.ERROR})
                raise ShareNotMounted(share_id=share['share_id'], reason=error.message) from error
        yield from self._report({share['uuid']: Status.ACTIVE for share in self.shares})

    def after(self, power: model.PowerAction | None) -> guest_work.Work[None]:
        """Unmount the shares if the guest was switched off."""
        if power is model.PowerAction.OFF:
            yield from self._unmount()

    def after_failure(self) -> guest_work.Work[None]:
        """Unmount the shares if the guest is off after all, or lost."""
        try:
            guest = self._site.driver.get_guest(self.node, self.uuid)
            is_off = guest.power_state == states.PowerState.SHUTDOWN
        except exception.GuestNotFound:
            is_off = True
        except exception.Unavailable as error:
            LOG.warning('Leaving the shares of server %s to the audit: %s', self.uuid, error)
            return
        if is_off:
            yield from self._unmount()

    def _unmount(self) -> guest_work.Work[None]:
        failed = yield from self._unplug(self._plugged())
        statuses = {
            share['uuid']: Status.ERROR if share['share_id'] in failed else Status.INACTIVE
            for share in self.shares
            if share['status'] != Status.ERROR or share['share_id'] in failed
        }
        yield from self._report(statuses)

    def _mount(self, share: conductor_rpc.Share) -> guest_work.Work[None]:
        if not share['granted']:
            raise exception.Conflict(reason='its host has no access. Detach the share')
        try:
            job = self._site.driver.attach(
                self.node,
                self.uuid,
                guests.share_of(share),
                key=self._key('mount', share['share_id']),
            )
            yield from guest_work.ended(job)
        except exception.DriverError as error:
            # A hard reboot creates a lost guest again, with its shares.
            if error.error_class != 'GuestNotFound':
                raise

    def _unplug(self, devices: Sequence[model.Device]) -> guest_work.Work[set[str]]:
        """Unplug shares. Return the ids of the shares that could not be unplugged."""
        failed = set()
        for device in devices:
            try:
                job = self._site.driver.detach(
                    self.node, self.uuid, device, key=self._key('unmount', device.id)
                )
                yield from guest_work.ended(job)
            except exception.NovaLiteError as error:
                failed.add(device.id)
                LOG.warning('Cannot unmount share %s of server %s: %s', device.id, self.uuid, error)
        return failed

    def _plugged(self) -> list[model.Device]:
        """Return the shares that the guest has."""
        try:
            guest = self._site.driver.get_guest(self.node, self.uuid)
        except exception.GuestNotFound:
            return []
        return shares_of(guest)

    def _key(self, verb: str, share_id: str) -> str:
        return f'{self._ctxt.request_id}/{verb}/{share_id}'

    def _report(self, statuses: dict[str, Status]) -> guest_work.Work[None]:
        if statuses:
            yield from guest_work.insist(
                self._site.conductor.update_shares,
                self._ctxt,
                host=self._host,
                instance_uuid=self.uuid,
                statuses={uuid: str(status) for uuid, status in statuses.items()},
            )


def shares_of(guest: model.Guest) -> list[model.Device]:
    """Return the shares among the devices of a guest."""
    return [device for device in guest.spec.devices if device.kind is model.DeviceKind.SHARE]
