"""Hosts that return: remove evacuated guests before the hosts are up.

A host is checked when the daemon starts, after its hypervisor was down, after it counted as down
for want of heartbeats, and when the cell replies so to a heartbeat. Until the guests are removed
the host sends no heartbeat, so that it gets no work. On a host that was only forced down, evacuated
guests are stopped, because their servers run elsewhere; they are removed after a restart.
Source: reference/nova/moves 5.
"""

from collections.abc import Callable
from collections.abc import Iterable

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.compute import guest_work
from nova_lite.compute import site
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)

WAIT_S = 1.0
RETURN = 'its return'


class Evacuated:
    """The hosts of a site that are up. beat: function that is called when a further host is up"""

    def __init__(self, site: site.Site, beat: Callable[[], None]) -> None:
        self._site, self._beat = site, beat
        self._clear: set[str] = set()
        self._heard = runtime.boottime()

    def heard(self, at: float) -> None:
        """Note that the cell has recorded heartbeats. at: boottime when they were sent"""
        self._heard = at

    def hosts(self) -> list[str]:
        """Return the hosts whose hypervisors answer and that have no evacuated guests."""
        if runtime.boottime() - self._heard > self._site.conf.service_down_time:
            self._clear.clear()
        up = self._site.up_hosts()
        self._clear.intersection_update(up)
        returned = [host for host in up if host not in self._clear]
        dirty = set()
        if returned:
            dirty = {each['host'] for each in self._left(returned)}
            self._clear.update(host for host in returned if host not in dirty)
        self._begin(dirty)
        return [host for host in up if host in self._clear]

    def take_back(self, hosts: Iterable[str]) -> None:
        """Clear hosts whose heartbeat the cell did not record: they were evacuated."""
        hosts = set(hosts)
        self._clear -= hosts
        self._begin(hosts)

    def look_after(self, forced_down: list[str]) -> None:
        """Stop evacuated guests on hosts that are up and that operators have forced down."""
        returned = set()
        for each in self._left(forced_down):
            booted_at = self._site.driver.get_facts(each['node']).booted_at
            if booted_at > each['began']:
                returned.add(each['host'])
            else:
                stop = self._tried({**each, 'done': False}, runtime.new_uuid())
                self._site.jobs.run((each['host'], each['instance_uuid']), stop)
        self._clear -= returned
        self._begin(returned)

    def _begin(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            if not self._site.jobs.has((host, RETURN)):
                self._site.jobs.run((host, RETURN), self._clean(host), here=False)

    def _left(self, hosts: list[str]) -> list[conductor_rpc.Evacuation]:
        return self._site.conductor.evacuations_from(context.admin(), hosts=hosts)

    def _clean(self, host: str) -> guest_work.Work[None]:
        """Remove evacuated guests. Keep those stopped whose evacuation is still in progress."""
        attempt = 0
        while True:
            found = yield from guest_work.insist(self._left, [host])
            if not found:
                break
            for each in found:
                yield from self._tried(each, attempt)
            attempt += 1
            yield guest_work.Pause(0 if all(each['done'] for each in found) else WAIT_S)
        self._clear.add(host)
        LOG.info('All servers that were evacuated from host %s have been removed from it', host)
        yield from guest_work.insist(self._beat)

    def _tried(
        self, evacuation: conductor_rpc.Evacuation, attempt: int | str
    ) -> guest_work.Work[None]:
        key = f'{evacuation["migration_uuid"]}/returned/{attempt}'
        try:
            if evacuation['done']:
                yield from self._remove(evacuation, key)
            else:
                yield from self._stop(evacuation, key)
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot remove server %s from host %s, from which it was evacuated: %s',
                evacuation['instance_uuid'],
                evacuation['host'],
                error,
            )
            yield guest_work.Pause(WAIT_S)

    def _remove(self, evacuation: conductor_rpc.Evacuation, key: str) -> guest_work.Work[None]:
        site, ctxt = self._site, context.admin()
        uuid, node = evacuation['instance_uuid'], evacuation['node']
        job = site.driver.destroy(node, uuid, key=key)
        yield from guest_work.ended(job)
        site.claims.release(node, uuid)
        if evacuation['provider']:
            site.placement.release(ctxt, uuid, {evacuation['provider']})
        yield from guest_work.insist(
            site.conductor.evacuation_cleaned,
            ctxt,
            host=evacuation['host'],
            migration_uuid=evacuation['migration_uuid'],
        )
        LOG.info('Removed evacuated server %s from node %s', uuid, node)

    def _stop(self, evacuation: conductor_rpc.Evacuation, key: str) -> guest_work.Work[None]:
        """Stop a guest whose server is being rebuilt elsewhere."""
        uuid, node = evacuation['instance_uuid'], evacuation['node']
        try:
            guest = self._site.driver.get_guest(node, uuid)
        except exception.GuestNotFound:
            return
        if guest.power_state in (states.PowerState.RUNNING, states.PowerState.PAUSED):
            yield from self._end_copy(node, uuid, key)
            job = self._site.driver.change_power(node, uuid, model.PowerAction.OFF, key=key)
            yield from guest_work.ended(job)

    def _end_copy(self, node: str, uuid: str, key: str) -> guest_work.Work[None]:
        """End a live migration that was undone without the host and that may still run there."""
        for copy in self._site.driver.list_jobs(node, uuid):
            if copy.verb is model.Verb.LIVE_MIGRATE:
                job = self._site.driver.abort_live_migration(
                    node, uuid, copy.subject, key=f'{key}/copy'
                )
                yield from guest_work.ended(job)
