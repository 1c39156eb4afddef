"""Whole boots in an embedded cloud: requests to the compute API, with hosts, sagas and events.

One request is made at a time, and the clock of the cloud stands still except when the study
advances it. So the results depend on the requests alone, and hours of a trace take minutes.
"""

from collections.abc import Sequence
import http
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite.lab.launcher import embedded
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import figures
from nova_lite.lab.testing import admin_requests
from nova_lite.objects import flavor as flavors

COMPUTE = 'compute'
# Seconds of the cloud's time between two reads of a server, and after which the server is stuck.
LOOK_S, STUCK_S = 0.25, 3600.0
BUILDING, ACTIVE, MOVING = 'BUILD', 'ACTIVE', ('MIGRATING', 'REBUILD')
HOST = 'OS-EXT-SRV-ATTR:host'
REFUSALS = (http.HTTPStatus.BAD_REQUEST, http.HTTPStatus.CONFLICT)
VERSION = {'OpenStack-API-Version': 'compute 2.74'}


class Stuck(exception.Conflict):
    msg = 'Server %(name)s is %(status)s after %(seconds).0f s of the time of the cloud'


class NoImage(exception.Conflict):
    msg = (
        'The cloud of the study has no image, which whole boots need. List an image in the file of '
        '-f, or omit --boots'
    )


class Booter:
    """Boots and deletes servers. Stands in place of a decider.Decider. Raises NoImage.

    clock: the Control of the clock of the cloud; began_s: time of the trace at its beginning
    """

    def __init__(self, cloud: embedded.EmbeddedCloud, clock: typing.Any, began_s: float) -> None:
        self._cloud: typing.Any = cloud
        self._clock = clock
        self._api = admin_requests.Services(cloud.places.clouds_path)
        images = self._api.list('image', '/images', sort='name:asc')
        if not images:
            raise NoImage()
        self._image = images[0]['id']
        # {name of a flavor: its id}
        self._flavors: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        # Seconds of the trace up to which the clock was advanced.
        self._now_s = began_s
        self._capacity = _capacity(self._scheduler)

    @property
    def _scheduler(self) -> typing.Any:
        return self._cloud.daemons['scheduler'].manager

    def check(self) -> None:
        """Do nothing: the study runs `verify` on the whole cloud."""

    def finish(self) -> None:
        """Do nothing: each request is sent at once."""

    def advance_to(self, at_s: float) -> None:
        """Advance the clock of the cloud to a time of the trace, unless it is later already."""
        if at_s > self._now_s:
            self._advance(at_s - self._now_s)

    def _advance(self, seconds: float) -> None:
        self._clock.advance(seconds)
        self._now_s += seconds

    def place(self, name: str, flavor: flavors.Flavor) -> decider.Placing:
        """Boot a server and wait for it. A server without a host is deleted."""
        body = {
            'server': {
                'name': name,
                'flavorRef': self._flavor_id(flavor),
                'imageRef': self._image,
                'networks': 'none',
            }
        }
        answer = self._api.call(COMPUTE, 'POST', '/servers', body, headers=VERSION)
        uuid = self._ids[name] = answer['server']['id']
        server = self._settled(name, BUILDING)
        if server['status'] == ACTIVE:
            return decider.Placing(server[HOST])
        rejected = self._rejected(uuid)
        self.remove(name)
        return rejected

    def _settled(self, name: str, former: str) -> typing.Any:
        """Return a server once it is not in the status `former`. Raise Stuck."""
        waited_s = 0.0
        while waited_s < STUCK_S:
            self._advance(LOOK_S)
            waited_s += LOOK_S
            found = self._server(name)
            if found['status'] != former:
                return found
        raise Stuck(name=name, status=former, seconds=waited_s)

    def _rejected(self, uuid: str) -> decider.Placing:
        scheduler = self._scheduler
        record = scheduler.decisions.get(uuid)
        offered = record.offered.intersection(self._capacity)
        return decider.rejected(record, len(self._capacity) - len(offered))

    def remove(self, name: str) -> None:
        """Delete a server and wait until it is gone. Raise Stuck."""
        uuid, waited_s = self._ids.pop(name), 0.0
        self._api.delete(COMPUTE, f'/servers/{uuid}')
        while waited_s < STUCK_S:
            self._advance(LOOK_S)
            waited_s += LOOK_S
            try:
                self._api.call(COMPUTE, 'GET', f'/servers/{uuid}')
            except admin_requests.Refused as error:
                if error.kwargs['status'] == http.HTTPStatus.NOT_FOUND:
                    return
                raise
        raise Stuck(name=name, status='not deleted', seconds=waited_s)

    # ---- disturbances ----

    def migrate(self, name: str) -> str | None:
        """Live-migrate a server. Return its new host, None if the server stays."""
        body = {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}
        return self._moved(name, body)

    def evacuate(self, name: str) -> str | None:
        """Evacuate a server of a lost host. Return its new host, None if the server stays."""
        return self._moved(name, {'evacuate': {}})

    def lose_host(self, names: Sequence[str]) -> list[str]:
        """Power off the host with the most servers, and force it down.

        names: the names of all servers. Return the names of the servers on that host.
        """
        on: dict[str, list[str]] = {}
        for name in names:
            on.setdefault(self._server(name)[HOST], []).append(name)
        if not on:
            return []
        lost = max(sorted(on), key=lambda host: len(on[host]))
        self._cloud.faults.switch_host(lost, on=False)
        path = f'/os-services?host={lost}&binary=nova-compute'
        (service,) = self._api.call(COMPUTE, 'GET', path, headers=VERSION)['services']
        self._api.call(
            COMPUTE,
            'PUT',
            f'/os-services/{service["id"]}',
            {'forced_down': True},
            headers=VERSION,
        )
        return on[lost]

    def _server(self, name: str) -> typing.Any:
        return self._api.call(COMPUTE, 'GET', f'/servers/{self._ids[name]}')['server']

    def _moved(self, name: str, action: admin_requests.Json) -> str | None:
        """Request a move and wait for its end. Return the new host, None if the server stays."""
        before = self._server(name)[HOST]
        path, waited_s = f'/servers/{self._ids[name]}/action', 0.0
        try:
            self._api.call(COMPUTE, 'POST', path, action, headers=VERSION)
        except admin_requests.Refused as error:
            if error.kwargs['status'] in REFUSALS:
                return None
            raise
        while waited_s < STUCK_S:
            self._advance(LOOK_S)
            waited_s += LOOK_S
            found = self._server(name)
            if found['OS-EXT-STS:task_state'] is None and found['status'] not in MOVING:
                host: str = found[HOST]
                return host if host != before else None
        raise Stuck(name=name, status=found['status'], seconds=waited_s)

    def figures(self) -> list[figures.Host]:
        """Return the resources and servers of each host that is up, as the cells record them."""
        states = self._scheduler.world.states
        return [
            figures.Host(
                self._capacity.get(host.uuid, {}),
                {
                    'VCPU': host.vcpus_used,
                    'MEMORY_MB': host.memory_mb_used,
                    'DISK_GB': host.local_gb_used,
                },
                host.num_instances,
            )
            for host in states.get(states.version()).hosts.values()
            if host.up
        ]

    def _flavor_id(self, flavor: flavors.Flavor) -> str:
        """Return the id of a flavor. Create the flavor at its first use."""
        found = self._flavors.get(flavor.name)
        if found is None:
            found = f'replay-{len(self._flavors) + 1}'
            body = {
                'id': found,
                'name': f'replay-{flavor.name}',
                'vcpus': flavor.vcpus,
                'ram': flavor.memory_mb,
                'disk': flavor.root_gb,
            }
            self._api.create(COMPUTE, '/flavors', {'flavor': body})
            self._flavors[flavor.name] = found
        return found


def _capacity(scheduler: typing.Any) -> dict[str, dict[str, int]]:
    """Return {provider: {resource class: amount}} of the hosts of an empty cloud."""
    world = scheduler.world
    known = world.states.get(world.states.version()).hosts
    offer = world.placement.candidates(context.admin(), decider.EVERY_HOST)
    return {
        uuid: {name: each['capacity'] for name, each in summary['resources'].items()}
        for uuid, summary in offer['provider_summaries'].items()
        if uuid in known
    }
