"""Objects that clients made for themselves stay; those made for servers go with them."""

from tests.sim.workload import caller as caller_module
from tests.sim.workload import devices
from tests.sim.workload import outside
from tests.sim.workload import owners

_PROJECT = f'/volume/v3/{caller_module.PROJECT}'
VOLUMES = f'{_PROJECT}/volumes/detail?all_tenants=1'
ATTACHMENTS = f'{_PROJECT}/attachments/detail?all_tenants=1'
SNAPSHOTS = f'{_PROJECT}/snapshots?all_tenants=1'
# The first version with attachments.
VERSION = 'volume 3.27'


class Belongings:
    """ledger: a workload.ledger.Ledger; caller: a workload.caller.Caller"""

    def __init__(self, ledger, caller):
        self._ledger, self._caller = ledger, caller

    def lost(self):
        """Yield what clients made or took and is not there. No fault excuses that.

        What its owner deleted is not there, or goes.
        """
        taken = self._taken()
        for kind, path in (('volume', VOLUMES), ('port', devices.PORTS)):
            outside = self._ledger.outside
            made = {**self._ledger.made[kind], **(taken if kind == 'port' else {})}
            kept = [each for each in made if not outside.may_have(each, f'delete {kind}')]
            found = self._listed(f'{kind}s', path) if made else None
            there = {each['id']: each for each in found or ()}
            if found is not None:
                yield from (f'lost {kind} {each}' for each in kept if each not in there)
                for each in outside.done(f'delete {kind}'):
                    if each in there and there[each].get('status') != 'deleting':
                        yield f'deleted {kind} {each} exists'
            if kind == 'port' and found is not None:
                yield from _moved_back(taken, there)

    def _taken(self):
        """Return {id: device} of the ports that owners gave to others or took for themselves."""
        outside = self._ledger.outside
        given, taken = outside.done(owners.GIVE), outside.done(owners.TAKE)
        return {
            **{each: owners.NOBODY['device_id'] for each in taken if each not in given},
            **{each: owners.APPLIANCE['device_id'] for each in given if each not in taken},
        }

    def left(self):
        """Yield what was made for servers and is there without them, or still belongs to them."""
        yield from self._left_ports()
        yield from self._left_volumes()

    def _left_ports(self):
        taken = self._ledger.outside.done(owners.TAKE)
        for port in self._listed('ports', devices.PORTS) or ():
            own = port['id'] in self._ledger.made['port']
            if port['device_id'] in self._ledger.gone:
                yield f'port {port["id"]} of a deleted server'
            elif not (own or port['device_id'] or port['id'] in taken):
                yield f'left without a fault: port {port["id"]}'

    def _left_volumes(self):
        # Cinder refuses to delete a volume that has a snapshot, as images of servers have.
        copied = {each['volume_id'] for each in self._listed('snapshots', SNAPSHOTS) or ()}
        attached = self._listed('attachments', ATTACHMENTS)
        for volume in self._listed('volumes', VOLUMES) or ():
            uuid, status = volume['id'], volume['status']
            if uuid in self._ledger.made['volume']:
                if attached is not None:
                    servers = [each['instance'] for each in attached if each['volume_id'] == uuid]
                    if uuid in self._ledger.outside.done(outside.STICK_VOLUME):
                        status = 'available'
                    yield from self._misused(f'volume {uuid}', status, servers)
            elif status == 'available' and uuid not in copied and not _stays(volume):
                yield f'left without a fault: volume {uuid}'

    def _misused(self, volume, status, servers):
        """Yield what is wrong with a volume of a client. servers: those it is attached to"""
        if any(each in self._ledger.gone for each in servers):
            yield f'{volume} is {status}, attached to a deleted server'
        elif not servers and status != 'available':
            yield f'{volume} is {status}, attached to no server'

    def _listed(self, what, path):
        """Return the records of a list; None if it could not be read."""
        code, found = self._caller.neighbour(what, 'GET', path, version=VERSION)
        return found[what] if code == 200 else None


def _moved_back(taken, there):
    """Yield ports that belong to another device than their owner said. taken: {id: device}"""
    for port, device in taken.items():
        if port in there and there[port]['device_id'] != device:
            yield f'port {port} was given to "{device}", and belongs to {there[port]["device_id"]}'


def _stays(volume):
    """Return whether a volume that the ledger does not know need not go.

    That of a client whose request got no answer is named so. Cinder refuses to delete one that
    migrated when its server was deleted
    """
    return volume['name'].startswith('client') or volume['migration_status']
