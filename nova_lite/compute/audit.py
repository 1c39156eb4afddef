"""Audit: hypervisors' guests against the cell's records, host by host.

A guest that no server and no move owns is destroyed after a grace; power states
that differ are told to the cell; a server meant to be off that runs is stopped.
"""

import collections

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.compute import jobs
from nova_lite.compute import move_audit
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Power = states.PowerState


class Audit:
    """The periodic comparison, for all hosts of a site."""

    def __init__(self, site):
        self._site = site
        self._strangers = {}
        self._moves = move_audit.MoveAudit(site)

    def run(self):
        """Compare once; one call to the conductor, and further ones only where it differs."""
        hosts = self._site.up_hosts()
        guests = {
            (host, node): self._site.driver.list_guests(node)
            for host in hosts
            for node in self._site.nodes[host]
        }
        records = collections.defaultdict(dict)
        for record in self._site.conductor.host_records(context.admin(), hosts=hosts):
            records[record['host']][record['uuid']] = record
        self._moves.run(guests, records)
        busy = self._site.jobs.keys()
        differing = collections.defaultdict(dict)
        strangers = []
        for (host, node), found in guests.items():
            keep = {uuid for where, uuid in busy if where == host}
            self._site.claims.refresh(node, found, keep)
            for guest in found:
                if guest.uuid not in records[host] and guest.uuid not in keep:
                    strangers.append((host, guest))
            present = {guest.uuid: guest for guest in found if guest.role is model.Role.RESIDENT}
            for record in records[host].values():
                if record['node'] == node and record['uuid'] not in keep:
                    self._compare(record, present.get(record['uuid']), differing)
        if differing:
            self._site.conductor.power_states(context.admin(), states=dict(differing))
        self._clear(strangers)

    def _compare(self, record, guest, differing):
        """Note a power state that differs; stop a guest that should not run."""
        if record['task_state'] is not None or record['hidden']:
            return
        power_state = guest.power_state if guest else Power.NOSTATE
        if record['vm_state'] == states.VmState.STOPPED and power_state is Power.RUNNING:
            LOG.warning('Server %s runs though it is stopped: stopping it', record['uuid'])
            key = record['host'], record['uuid']
            self._site.jobs.run(key, self._stop(guest))
        elif power_state != record['power_state']:
            differing[record['host']][record['uuid']] = int(power_state)

    def _stop(self, guest):
        job = self._site.driver.change_power(
            guest.node, guest.uuid, model.PowerAction.OFF, key=f'audit/{runtime.new_uuid()}'
        )
        yield from jobs.ended(job)

    def _clear(self, strangers):
        """Destroy guests that were strangers for the whole grace and that nobody owns."""
        now = runtime.monotonic()
        grace_s = self._site.conf.compute.stray_grace
        seen = {(host, guest.node, guest.uuid): guest for host, guest in strangers}
        self._strangers = {key: self._strangers.get(key, now) for key in seen}
        due = collections.defaultdict(list)
        for key, guest in seen.items():
            if now - self._strangers[key] >= grace_s:
                due[key[0]].append(guest)
        for host, guests in due.items():
            held = self._site.conductor.held_guests(
                context.admin(), host=host, guests=[guest.uuid for guest in guests]
            )
            for guest in guests:
                if guest.uuid not in held:
                    LOG.warning('Guest %s on %s has no owner: removing it', guest.uuid, guest.node)
                    self._site.jobs.run((host, guest.uuid), self._remove(guest))

    def _remove(self, guest):
        key = f'audit/{runtime.new_uuid()}'
        if guest.role is model.Role.DEPARTED:
            job = self._site.driver.confirm_migration(guest.node, guest.uuid, guest.move, key=key)
        else:
            job = self._site.driver.destroy(guest.node, guest.uuid, key=key)
        try:
            yield from jobs.ended(job)
        except exception.DriverError as error:
            LOG.warning('Guest %s stays on %s: %s', guest.uuid, guest.node, error)
            return
        self._site.claims.release(guest.node, guest.uuid)
