"""Results of accepted requests: host, flavor, image and devices of a server."""

import collections
import typing

from tests.sim.workload import devices

# Actions that change which devices a server has.
DEVICES = frozenset(
    f'{verb}_{kind}'
    for verb in ('attach', 'detach', 'swap')
    for kind in ('volume', 'interface', 'share')
)
HOST = 'OS-EXT-SRV-ATTR:host'
# The message of an action that failed. That of a forced move says so, and others have none.
FAILED = 'Error'


class Deed(typing.NamedTuple):
    """An action that was done, and the workload.caller.Call that asked for it."""

    action: str
    call: typing.Any

    @property
    def content(self):
        """Return what the body of the request says."""
        (content,) = self.call.body.values()
        return content or {}


class Outcomes:
    """caller: a workload.caller.Caller; outside: a workload.outside.Outside"""

    def __init__(self, caller, outside):
        self._caller, self._outside, self._flavors = caller, outside, None

    def of_actions(self, server, deeds):
        """Yield what a server has otherwise than asked. deeds: the last ones, in order"""
        last = deeds[-1]
        host = last.content.get('host')
        if host and server[HOST] != host:
            yield f'{server["id"]} is on {server[HOST]} after {last.action} to {host}'
        if last.action == 'rebuild' and server['image']:
            image = last.content['imageRef']
            if server['image']['id'] != image:
                yield f'{server["id"]} has the image {server["image"]["id"]}, not {image}'
        resized = deeds[-2:] if last.action == 'confirmResize' else deeds[-1:]
        if resized[0].action == 'resize':
            wanted = self._flavor(resized[0].content['flavorRef'])
            if wanted is not None and server['flavor']['original_name'] != wanted:
                yield f'{server["id"]} has the flavor {server["flavor"]}, not {wanted}'

    def _flavor(self, flavor_id):
        """Return the name of a flavor; None if flavors could not be listed."""
        if self._flavors is None:
            code, found = self._caller.send('flavors', 'GET', '/flavors?is_public=None')
            if code != 200:
                return None
            self._flavors = {each['id']: each['name'] for each in found['flavors']}
        return self._flavors[flavor_id]

    def of_devices(self, server, promised, recorded):
        """Yield devices that a server lacks, or still has. Arguments: see effects"""
        for kind, known in _devices(promised, recorded).items():
            path = f'/servers/{server["id"]}/{kind.path}'
            code, found = self._caller.send(kind.what, 'GET', path)
            if code != 200:
                continue
            attached = [each[kind.key] for each in found[kind.name]]
            for device, there in known.items():
                if (device in attached) != there and not self._outside.is_named(device):
                    state = 'still attached' if device in attached else 'not attached'
                    yield f'{state}: {device} of {server["id"]}'


def _devices(promised, recorded):
    """Return {kind: {id of a device: whether it is attached}} as far as it is certain."""
    events = collections.defaultdict(list)
    for call in promised.values():
        for kind in (devices.VOLUMES, devices.INTERFACES):
            if f'/{kind.path}' in call.url:
                for device, there in _changed(kind, call):
                    events[kind, device].append((call, there))
    found = collections.defaultdict(dict)
    for (kind, device), changes in events.items():
        changes.sort(key=lambda change: change[0].ended)
        *earlier, (last, there) = changes
        action = recorded.get(last.request_id)
        certain = all(call.ended < last.began for call, _there in earlier)
        if certain and action is not None and action['message'] != FAILED:
            found[kind][device] = there
    return found


def _changed(kind, call):
    """Yield (id of a device, whether it is attached afterwards) of a request."""
    last = call.url.rpartition('/')[2]
    if call.method == 'POST':
        (answered,) = call.answer.values()
        yield answered[kind.key], True
        return
    swaps = call.method == 'PUT'
    yield last, swaps
    if swaps:
        # The volume keeps its id where Cinder has moved it, and the other one goes.
        yield call.body['volumeAttachment']['volumeId'], False
