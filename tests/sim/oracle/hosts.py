"""Hosts whose services or providers were deleted: they come back whole, or not at all."""

from nova_lite.db.api import host_mappings
from tests.sim.workload import administrators

SERVICES = '/os-services?binary=nova-compute'
HYPERVISORS = '/os-hypervisors'
PROVIDERS = administrators.PROVIDERS
# What each host has in placement, as (part of its provider, key of the answer).
PARTS = (('inventories', 'inventories'), ('traits', 'traits'))


class Hosts:
    """cloud: a world.cloud.Cloud that is whole; caller: a workload.caller.Caller

    outside: a workload.outside.Outside
    """

    def __init__(self, cloud, caller, outside):
        self._cloud, self._caller, self._outside = cloud, caller, outside

    def findings(self, reader):
        """Yield what hosts lack, all of which run. reader: a verify.reader.Reader

        A host whose service was deleted has all, since its process started again, or nothing.
        """
        services = self._listed('services', SERVICES)
        nodes = self._listed('hypervisors', HYPERVISORS)
        providers = self._placement(PROVIDERS, 'resource_providers')
        if None in (services, nodes, providers):
            yield 'hosts could not be listed'
            return
        uuids = {each['name']: each['uuid'] for each in providers}
        parts = {
            'service': {each['host'] for each in services},
            'service that is up': {each['host'] for each in services if each['state'] == 'up'},
            'mapping': {each.host for each in reader.api_db.read(host_mappings.every)},
            'node': {each['hypervisor_hostname'] for each in nodes},
            'resource provider': uuids,
        }
        deleted = self._outside.done(administrators.DELETE_SERVICE)
        for host in self._cloud.hosts:
            missing = [what for what, there in parts.items() if host not in there]
            if host in deleted and len(missing) == len(parts):
                continue
            yield from (f'{host} has no {what}' for what in missing)
            if host in uuids:
                yield from self._lacking(host, uuids[host])

    def _lacking(self, host, uuid):
        for part, key in PARTS:
            if not self._placement(f'{PROVIDERS}/{uuid}/{part}', key):
                yield f'{host} has no {part} in placement'

    def _listed(self, what, path):
        code, found = self._caller.send(what, 'GET', path)
        return found[what] if code == 200 else None

    def _placement(self, path, key):
        code, found = self._caller.placement('GET', path)
        return found[key] if code == 200 else None
