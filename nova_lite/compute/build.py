"""Build: from the claim to the running guest, or the cleanup of a failed build.

A build makes two calls to the conductor and none to placement. The effects of a failed build are
undone completely; then another host may try, or the build is over.
Source: reference/nova/create-server 5.
"""

from collections.abc import Callable
import dataclasses
import traceback

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.compute import arrivals
from nova_lite.compute import config_drives
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import port_devices
from nova_lite.compute import port_waits
from nova_lite.compute import site
from nova_lite.compute import volumes
from nova_lite.objects import instance as objects
from nova_lite.objects import selection as selections
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import model

LOG = log.getLogger(__name__)

NO_NETWORKS = 'none'


@dataclasses.dataclass
class Order:
    """The arguments of a build; see ComputeAPI.build_instance.

    again: the build may have been tried before: after a restart, a lost reply or a repeated
        message
    """

    instance: objects.Instance
    selection: selections.Selection
    block_devices: arguments.Devices
    requested_networks: arguments.Networks | None
    options: model.Json
    again: bool = False


class Build:
    """One server's build on one host."""

    def __init__(
        self, site: site.Site, ctxt: context.RequestContext, host: str, order: Order
    ) -> None:
        self._site, self._ctxt, self._host = site, ctxt, host
        self._order, self._instance = order, order.instance
        self._uuid = order.instance.uuid
        self._node = order.selection.nodename
        self._network_info: session.Jsons = []
        self._spawned = False
        # Added to the keys of the hypervisor's jobs, because a failed job stays failed under its
        # key.
        self._tries = ''
        self._volumes = volumes.Volumes(site, ctxt, host, order.instance, order.block_devices)

    def run(self) -> guest_work.Work[None]:
        """Build the server, or clean up; work for `guest_work`."""
        key = self._host, self._uuid
        try:
            yield from self._site.build_turns.take(key)
            begun = yield from self._start()
            if begun:
                self._order.again = self._order.again or begun == conductor_rpc.AGAIN
                if self._order.again:
                    yield from self._outlast_former_requests()
                yield from self._provide()
        except exception.StateChanged as error:
            LOG.info(
                'Stopping the build of server %s on host %s: %s', self._uuid, self._host, error
            )
            if self._spawned:
                yield from self._leave_to_others()
        except exception.NovaLiteError as error:
            LOG.warning('Build of server %s failed on host %s: %s', self._uuid, self._host, error)
            if error.reschedule:
                yield from self._reschedule(error)
            else:
                yield from self._abort(error)
        finally:
            self._site.plugs.forget(key)
            self._site.build_turns.leave(key)

    # ---- forward ----

    def _start(self) -> guest_work.Work[str | bool]:
        return (
            yield from guest_work.insist(
                self._site.reports.build_started,
                self._ctxt,
                host=self._host,
                instance_uuid=self._uuid,
                node=self._node,
                group=self._order.options.get('group'),
            )
        )

    def _outlast_former_requests(self) -> guest_work.Work[None]:
        """Wait until requests of a former process to neighbours can no longer arrive.

        Without the wait, an object that such a request creates late would be created twice. If the
        guest was requested, all these objects exist.
        """
        site = self._site
        makes = self._order.requested_networks != NO_NETWORKS or self._volumes.devices
        seconds = site.conf.compute.late_requests_s - (runtime.boottime() - site.began)
        if makes and seconds > 0 and not self._has_guest():
            LOG.info('Build of server %s continues in %.0f s', self._uuid, seconds)
            yield guest_work.Pause(seconds)

    def _has_guest(self) -> bool:
        try:
            self._site.driver.get_guest(self._node, self._uuid)
        except exception.GuestNotFound:
            return False
        return True

    def _provide(self) -> guest_work.Work[None]:
        """Claim resources, create ports and volumes, create the guest, update the record."""
        order = self._order
        networks = order.requested_networks
        devices = order.block_devices
        arrivals.claim(self._site, self._node, self._instance, devices, ports=networks)
        if networks != NO_NETWORKS:
            self._site.plugs.expect((self._host, self._uuid))
            self._network_info = yield from guest_work.persist(self._allocate_ports)
        named = volumes.name_devices(order.block_devices)
        yield from self._volumes.provide(again=order.again)
        self._network_info = yield from port_waits.wait(
            self._site, self._ctxt, (self._host, self._uuid), self._network_info
        )
        job = yield from self._spawn()
        self._volumes.complete()
        changed = {device.uuid: device for device in (*named, *self._volumes.devices)}
        finished = yield from guest_work.insist(
            self._site.reports.build_finished,
            self._ctxt,
            host=self._host,
            instance_uuid=self._uuid,
            network_info=self._network_info,
            block_devices=[volumes.changes_of(device) for device in changed.values()],
            power_state=job.result['power_state'],
        )
        if finished:
            LOG.info('Server %s was built on node %s', self._uuid, self._node)
            return
        LOG.info('Server %s was deleted during its build', self._uuid)
        yield from self._take_back(keep_volumes=False)
        self._site.placement.delete_allocations(self._ctxt, self._uuid, force=True)

    def _allocate_ports(self) -> session.Jsons:
        """Allocate ports. A repetition after an error finds the ports of the former attempt."""
        again, self._order.again = self._order.again, True
        order = self._order
        networks = resource_requests.allocated(order.requested_networks, order.selection)
        return self._site.network.allocate(
            self._ctxt,
            self._instance,
            port_devices.named(self._site, self._node, self._uuid, networks),
            host=self._host,
            groups=self._instance.security_groups,
            again=again,
        )

    def _spawn(self) -> guest_work.Work[model.Job]:
        self._spawned = True
        try:
            spec = arrivals.with_nodes(self._site, self._node, self._spec(), self._instance)
            job = self._site.driver.spawn(
                self._node, self._with_drive(spec), key=self._key('spawn')
            )
        except exception.Unavailable as error:
            error.reschedule = True
            raise
        return (yield from guest_work.ended(job))

    def _spec(self) -> model.GuestSpec:
        return guests.spec_of(
            self._site.conf,
            self._instance,
            block_devices=self._order.block_devices,
            network_info=self._network_info,
        )

    def _with_drive(self, spec: model.GuestSpec) -> model.GuestSpec:
        return config_drives.written(
            self._site,
            spec,
            self._instance,
            self._order.block_devices,
            network_info=self._network_info,
            options=self._order.options,
        )

    def _key(self, step: str) -> str:
        return f'{self._ctxt.request_id}/{step}{self._tries}'

    # ---- back ----

    def _reschedule(self, error: exception.NovaLiteError) -> guest_work.Work[None]:
        """Clean up and let the conductor reschedule the build.

        If the cleanup of a host that is up fails, the guest may run there: then no other host gets
        the server.
        """
        clean = yield from self._take_back(keep_volumes=True)
        if not clean and self._node in self._site.driver.up_nodes():
            yield from self._abort(error)
            return
        reason = exception.BuildRescheduled(instance_uuid=self._uuid, reason=error.message)
        yield from guest_work.insist(
            self._site.conductor.reschedule_build,
            self._ctxt,
            host=self._host,
            instance_uuid=self._uuid,
            failure=_failure(reason, error),
        )

    def _abort(self, error: exception.NovaLiteError) -> guest_work.Work[None]:
        """Clean up and set the server to ERROR, since no other host would succeed.

        If the cleanup is not complete, the server keeps its host and its allocations until `resume`
        has finished it. If the release of allocations of a server without a host is not answered,
        the audit of allocations deletes them.
        """
        clean = yield from self._take_back(keep_volumes=False)
        reason = exception.BuildAborted(instance_uuid=self._uuid, reason=error.message)
        yield from guest_work.insist(
            self._site.conductor.build_failed,
            self._ctxt,
            host=self._host,
            instance_uuid=self._uuid,
            failure=_failure(reason, error),
            keep_host=not clean,
        )
        if clean:
            # The cleanup comes afterwards: a restarted daemon repeats a build that is not recorded
            # as failed.
            yield from self._tried_work(self._release_allocations)

    def clear(self) -> guest_work.Work[None]:
        """Clean up an earlier failed build; work for `guest_work`."""
        conductor, whose = self._site.conductor, {'host': self._host, 'instance_uuid': self._uuid}
        if not (yield from guest_work.insist(conductor.build_is_over, self._ctxt, **whose)):
            return
        self._spawned, self._tries = True, f'/{runtime.new_uuid()}'
        if not (yield from self._take_back(keep_volumes=False)):
            return
        if (yield from guest_work.insist(conductor.build_cleared, self._ctxt, **whose)):
            LOG.info('Host %s was cleaned up after the build of server %s', self._host, self._uuid)
            yield from self._tried_work(self._release_allocations)

    def _leave_to_others(self) -> guest_work.Work[None]:
        """Remove only the guest, because another host has the server, its ports and its volumes."""
        yield from self._destroy_guest()
        self._site.claims.release(self._node, self._uuid)

    def _take_back(self, *, keep_volumes: bool) -> guest_work.Work[bool]:
        """Undo the build as far as possible. Return whether nothing is left."""
        clean = yield from self._tried_work(self._destroy_guest)
        if keep_volumes:
            clean &= yield from self._tried_work(self._volumes.reserve)
        else:
            clean &= self._tried(self._volumes.give_back)
        clean &= self._tried(self._release_ports)
        self._site.claims.release(self._node, self._uuid)
        return clean

    def _destroy_guest(self) -> guest_work.Work[None]:
        if self._spawned:
            job = self._site.driver.destroy(self._node, self._uuid, key=self._key('undo'))
            yield from guest_work.ended(job)

    def _release_ports(self) -> None:
        """Release all ports that name the server, even if their creation was not answered."""
        wanted = self._order.requested_networks
        if wanted == NO_NETWORKS:
            return
        requested = wanted if isinstance(wanted, list) else ()
        kept = [
            {'id': request['port_id'], 'preserve_on_delete': True}
            for request in requested
            if request.get('port_id')
        ]
        self._site.network.deallocate(self._ctxt, self._uuid, kept)

    def _release_allocations(self) -> guest_work.Work[None]:
        release = self._site.placement.delete_allocations
        yield from guest_work.persist(release, self._ctxt, self._uuid, force=True)

    def _tried(self, step: Callable[[], None]) -> bool:
        """Run one step of the cleanup. Log an error, so that the next step can run."""
        try:
            step()
        except exception.NovaLiteError as error:
            self._warn_of_rest(error)
            return False
        return True

    def _tried_work(self, step: Callable[[], guest_work.Work[None]]) -> guest_work.Work[bool]:
        try:
            yield from step()
        except exception.NovaLiteError as error:
            self._warn_of_rest(error)
            return False
        return True

    def _warn_of_rest(self, error: exception.NovaLiteError) -> None:
        LOG.warning(
            'Server %s was not completely removed from host %s: %s', self._uuid, self._host, error
        )


def _failure(
    reason: exception.NovaLiteError, cause: exception.NovaLiteError
) -> conductor_rpc.Failure:
    return {'error': reason.message, 'details': ''.join(traceback.format_exception(cause))}
