"""Images and backups of servers: they exist as was asked, and nothing is left of others."""

import collections
import itertools
import json
import math

from tests.sim.oracle import outcomes
from tests.sim.workload import caller as caller_module
from tests.sim.workload import outside
from tests.sim.workload import owners

SNAPSHOT, BACKUP = 'snapshot', 'backup'
LIST = f'{owners.IMAGES}?limit=1000'
SNAPSHOTS = f'/volume/v3/{caller_module.PROJECT}/snapshots?all_tenants=1'
MAPPING = 'block_device_mapping'


class Images:
    """ledger: a workload.ledger.Ledger; caller: a workload.caller.Caller"""

    def __init__(self, ledger, caller):
        self._ledger, self._outside, self._caller = ledger, ledger.outside, caller
        self._images = self._snapshots = None

    def look(self):
        """List all images and snapshots of volumes again."""
        self._images = self._listed('images', LIST)
        self._snapshots = self._listed('snapshots', SNAPSHOTS)

    def _listed(self, what, path):
        """Return {id: record}; None if they could not be listed."""
        code, found = self._caller.neighbour(what, 'GET', path)
        return {each['id']: each for each in found[what]} if code == 200 else None

    def of_server(self, server, promised, recorded):
        """Yield images that a server lacks, or has too many. Arguments: see effects"""
        if self._images is None:
            return
        calls = [each for each in promised.values() if each.what in (SNAPSHOT, BACKUP)]
        done = [call for call in calls if _is_done(recorded.get(call.request_id))]
        for call in done:
            if call.what == SNAPSHOT:
                yield from self._of_call(server, call)
        kinds = collections.defaultdict(list)
        for call in calls:
            if call.what == BACKUP:
                kinds[call.body['createBackup']['backup_type']].append(call)
        for kind, asked in kinds.items():
            yield from self._of_backups(server, kind, asked, done)

    def _of_call(self, server, call):
        """Yield what is wrong with the image of a request that was carried out.

        A state that is reset ends the task of a snapshot, and with it the image.
        """
        uuid = call.answer['image_id']
        reset = self._outside.met(outside.RESET, server['id'], call.began, math.inf)
        if reset or self._outside.may_have(uuid, owners.DELETE_IMAGE):
            return
        image = self._images.get(uuid)
        if image is None:
            yield f'lost image {uuid} of {server["id"]}, of {call.what} {call.request_id}'
            return
        (content,) = call.body.values()
        wanted = {'status': 'active', 'name': content['name'], 'image_type': call.what}
        if call.what == BACKUP:
            wanted['backup_type'] = content['backup_type']
        wanted[owners.OF_SERVER] = server['id']
        for name, value in wanted.items():
            if image.get(name) != value:
                yield f'image {uuid} of {server["id"]} has {name} {image.get(name)}, not {value}'

    def _of_backups(self, server, kind, asked, done):
        """Yield backups of a type that were lost, and those that should have been deleted.

        The newest ones that were carried out have to be there, as many as the last request says.
        """
        asked.sort(key=lambda call: call.ended)
        if any(one.ended >= other.began for one, other in itertools.pairwise(asked)):
            return
        made = [call for call in asked if call in done]
        kept = min((call.body['createBackup']['rotation'] for call in made[-1:]), default=0)
        latest = made[-kept:] if kept else []
        # Later ones that failed may have been uploaded all the same.
        fewer = min((call.body['createBackup']['rotation'] for call in asked[-1:]), default=0)
        for call in latest[-fewer:] if fewer else ():
            yield from self._of_call(server, call)
        if asked[-1:] != made[-1:]:
            return
        there = [
            each['id']
            for each in self._images.values()
            if each.get('image_type') == BACKUP
            and each.get('backup_type') == kind
            and each.get(owners.OF_SERVER) == server['id']
        ]
        old = {*there} - {call.answer['image_id'] for call in latest}
        old = [each for each in old if not self._outside.may_have(each, owners.PROTECT)]
        if old:
            yield f'{server["id"]} has old {kind} backups: {sorted(old)}, of which {kept} are kept'

    def left(self):
        """Yield snapshots of volumes that no image refers to: of none that an owner deleted."""
        if self._images is None or self._snapshots is None:
            return
        named = {
            device['snapshot_id']
            for image in self._images.values()
            for device in json.loads(image.get(MAPPING) or '[]')
            if device.get('snapshot_id')
        }
        for uuid in self._snapshots:
            if uuid not in named and uuid not in self._ledger.outside.parts:
                yield f'snapshot {uuid} of volume {self._snapshots[uuid]["volume_id"]} is of no image'
        for uuid in sorted(named - {*self._snapshots}):
            if not self._outside.may_have(uuid, owners.DELETE_SNAPSHOT):
                yield f'lost snapshot {uuid}, of which there is an image'


def _is_done(action):
    return action is not None and action['message'] != outcomes.FAILED
