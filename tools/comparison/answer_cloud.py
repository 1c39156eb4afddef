"""One of the two clouds of tools.judge_answers: its objects, its servers and their states."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import json
import os
import signal
import typing

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from tools.comparison import answer_cases
from tools.comparison import answer_shapes
from tools.comparison import special_servers

USERS = {answer_cases.OWNER: client_connections.DEMO, answer_cases.ADMIN: client_connections.ADMIN}
WAIT_S, POLL_S, TIMEOUT_S = 180, 0.4, 120
# A server that keeps its task for so long is judged with it.
END_S = 15
TASK = 'OS-EXT-STS:task_state'
HOST = 'OS-EXT-SRV-ATTR:host'
SUPER_CONDUCTOR = 'super-conductor.top.pid'
UNKNOWN = '5f0e3a1c-6b1f-4a52-9d0e-0c9a34b2f7aa'
# Hosts of the zone of servers whose host will be down.
DOWN_ZONE, DOWN_HOST = 'lost', 'cell2-host3'
FLAVORS = {
    'flavor': ('judged', 512, 1, 1),
    'other_flavor': ('judged-more', 1024, 1, 2),
    'small_flavor': ('judged-less', 64, 1, 0),
    'huge_flavor': ('judged-huge', 2**30, 1, 1),
}
GIB, UNLIMITED = 1, -1
Body: typing.TypeAlias = typing.Any


class Caller:
    """A user of the cloud. directory: the state directory; name: of the user's clouds.yaml"""

    def __init__(self, directory: str, name: str) -> None:
        path = os.path.join(directory, 'clouds.yaml')
        self.connection = client_connections.connect(path, name)
        self._base = self.connection.compute.get_endpoint() or ''
        self._local = runtime.Local()
        self.project_id: str = self.connection.current_project_id or ''

    def send(
        self, method: str, path: str, body: Body = None, minor: int = answer_cases.NEWEST
    ) -> requests.Response:
        """Send one request and return its response."""
        session = getattr(self._local, 'session', None)
        if session is None:
            session = self._local.session = requests.Session()
            session.trust_env = False
        headers = {
            'X-Auth-Token': self.connection.auth_token or '',
            'OpenStack-API-Version': f'compute 2.{minor}',
        }
        try:
            response: requests.Response = session.request(
                method, self._base + path, json=body, headers=headers, timeout=TIMEOUT_S
            )
        except requests.RequestException as error:
            raise exception.Unavailable(service=self._base, reason=error) from error
        return response

    def call(self, method: str, path: str, body: Body = None, minor: int = 96) -> Body:
        """Send one request and return its body. Raise Conflict for a status of 400 and above."""
        response = self.send(method, path, body, minor)
        if response.status_code >= 400:
            raise exception.Conflict(
                reason=f'{method} {path} answered {response.status_code}: {response.text[:300]}'
            )
        return response.json() if response.content else None


class Cloud:
    """The cloud of a state directory. Methods may be called in many threads."""

    def __init__(self, side: str, directory: str) -> None:
        self.side, self._directory = side, directory
        self._users = {name: Caller(directory, cloud) for name, cloud in USERS.items()}
        self.owner, self.admin = (self._users[each] for each in USERS)
        self._objects = self._prepare()
        self._prepare_zone()

    @property
    def image(self) -> str:
        """The id of an image."""
        return self._objects['image']

    @property
    def words(self) -> Mapping[str, str]:
        """Return {word of the cases: id}."""
        return self._objects

    def learn(self, words: Mapping[str, str]) -> None:
        """Know further words."""
        self._objects = {**words, **self._objects}

    # ---- objects ----

    def _prepare(self) -> dict[str, str]:
        for user in self._users.values():
            quotas = dict.fromkeys(('instances', 'cores', 'ram', 'server_group_members'), UNLIMITED)
            path = f'/os-quota-sets/{user.project_id}'
            self.admin.call('PUT', path, {'quota_set': quotas})
            for kind, names in (('volume', ('volumes', 'gigabytes')), ('network', ('port',))):
                self._lift(kind, user.project_id, names)
        network = self.owner.connection.network.find_network('private', ignore_missing=False)
        found = {
            'image': self.owner.connection.image.find_image('cirros', ignore_missing=False).id,
            'network': network.id,
            'unknown': UNKNOWN,
            **self._hypervisor(),
        }
        flavors = self.admin.call('GET', '/flavors?is_public=None')['flavors']
        known = {flavor['name']: flavor['id'] for flavor in flavors}
        for word, (name, ram, vcpus, disk) in FLAVORS.items():
            wanted = {'name': name, 'ram': ram, 'vcpus': vcpus, 'disk': disk}
            if name not in known:
                made = self.admin.call('POST', '/flavors', {'flavor': wanted})
                known[name] = made['flavor']['id']
            found[word] = known[name]
        return found

    def _hypervisor(self) -> dict[str, str]:
        """Return the first but one as all microversions name it."""
        found = {}
        for word, minor in (('number', 52), ('uuid', 53)):
            listed = self.admin.call('GET', '/os-hypervisors', minor=minor)['hypervisors']
            found[f'hypervisor_{word}'] = str(listed[1]['id'])
            found['hypervisor_name'] = listed[1]['hypervisor_hostname']
        return found

    def _lift(self, kind: str, project: str, names: Iterable[str]) -> None:
        limits = dict.fromkeys(names, UNLIMITED)
        connection = self.admin.connection
        if kind == 'volume':
            connection.set_volume_quotas(project, **limits)
        else:
            connection.set_network_quotas(project, **limits)

    def volume(self, image: str | None = None, *, foreign: bool = False) -> str:
        """Make a volume and return its id when it is available.

        foreign: of the administrator, not of the owner
        """
        storage = (self.admin if foreign else self.owner).connection.block_storage
        made = storage.create_volume(size=GIB, image_id=image)
        storage.wait_for_status(made, 'available', interval=POLL_S, wait=WAIT_S)
        return str(made.id)

    def fill(self, case: answer_cases.Case, uuid: str) -> tuple[str, object]:
        """Return (path, body) of a case with the objects of this cloud."""
        text = json.dumps([case.path, case.body])
        makers: Mapping[str, Callable[[], str]] = {
            'volume': self.volume,
            'port': functools.partial(self._port, uuid),
            'attached': functools.partial(self._attached, uuid),
            'same_host': functools.partial(self._host, uuid, same=True),
            'other_host': functools.partial(self._host, uuid, same=False),
            'host': functools.partial(self._host, uuid, same=True),
            'server': lambda: uuid,
        }
        for name, make in makers.items():
            if case.needs(name):
                text = text.replace(f'{{{name}}}', make())
        path, body = json.loads(self._named(text))
        return path, body

    def _port(self, uuid: str) -> str:
        ports = self.owner.connection.network.ports(device_id=uuid)
        return next((str(port.id) for port in ports), UNKNOWN)

    def _attached(self, uuid: str) -> str:
        shown = self.show(uuid) or {}
        found = shown.get('os-extended-volumes:volumes_attached') or [{'id': UNKNOWN}]
        return str(found[-1]['id'])

    def _host(self, uuid: str, *, same: bool) -> str:
        here = (self.show(uuid) or {}).get(HOST) or 'cell1-host1'
        if same:
            return str(here)
        return next(
            host for host in self.hosts(here.partition('-')[0]) if host not in (here, DOWN_HOST)
        )

    def hosts(self, cell: str) -> list[str]:
        """Return the names of the hosts of a cell."""
        return [f'{cell}-host{number}' for number in (1, 2, 3)]

    # ---- servers ----

    def send(self, case: answer_cases.Case, uuid: str) -> answer_shapes.Answer:
        """Send the request of a case and return what was answered."""
        path, body = self.fill(case, uuid)
        path = f'/servers/{uuid}{path}' if uuid else path
        return answer_of(self._users[case.user].send(case.method, path, body, case.minor))

    def show(self, uuid: str) -> Body:
        """Return a server as the administrator sees it, also a deleted one; None if unknown."""
        response = self.admin.send('GET', f'/servers/{uuid}')
        if response.status_code == 200:
            return response.json()['server']
        query = f'/servers/detail?all_tenants=1&deleted=1&uuid={uuid}'
        found = self.admin.call('GET', query)['servers']
        return found[0] if found else None

    def create(self, hints: Body = None, **changes: object) -> str:
        """Create a server of the owner and return its id.

        changes: fields of the request; they and the hints may have words
        """
        server = {
            'name': 'judged',
            'imageRef': self._objects['image'],
            'flavorRef': self._objects['flavor'],
            'networks': [{'uuid': self._objects['network']}],
            'metadata': {'a': 'z'},
            **changes,
        }
        text = self._named(json.dumps({'server': server, 'os:scheduler_hints': hints or {}}))
        made = self.owner.call('POST', '/servers', json.loads(text))
        return str(made['server']['id'])

    def _named(self, text: str) -> str:
        """Return a text with ids in place of words."""
        for name, value in self._objects.items():
            text = text.replace(f'{{{name}}}', value)
        return text

    def request_in(self, group: str, host: str | None) -> requests.Response:
        """Ask for a server of the administrator in a group, on a host, and return the response."""
        server = {
            'name': 'judged',
            'imageRef': self.image,
            'flavorRef': self._objects['flavor'],
            'networks': 'none',
            **({'host': host} if host else {}),
        }
        body = {'server': server, 'os:scheduler_hints': {'group': group}}
        return self.admin.send('POST', '/servers', body)

    def create_in(self, group: str, host: str) -> str:
        """Create a server of the administrator in a group and return its id."""
        return str(self.request_in(group, host).json()['server']['id'])

    def booted_from_volume(self) -> str:
        """Create a server whose root is a volume, and return its id."""
        image = self._objects['image']
        root = {
            'boot_index': 0,
            'uuid': image,
            'source_type': 'image',
            'destination_type': 'volume',
            'volume_size': GIB,
            'delete_on_termination': True,
        }
        return self.create(imageRef='', block_device_mapping_v2=[root])

    def make(self, state: str) -> str:
        """Create a server, bring it into a state and return its id."""
        if special_servers.SEPARATOR in state:
            return self._make_special(*special_servers.steps(state))
        if state == 'no-host':
            uuid = self.create(flavorRef=self._objects['huge_flavor'])
            self.wait(uuid, 'ERROR')
            return uuid
        uuid = self.booted_from_volume() if state.startswith('volume') else self.create()
        if state == answer_cases.BUILDING:
            return uuid
        self.wait(uuid, 'ACTIVE')
        self.bring(uuid, answer_cases.STATES[state])
        return uuid

    def _make_special(self, kind: special_servers.Kind, steps: Iterable[answer_cases.Step]) -> str:
        uuid = self.create(kind.hints, **kind.fields)
        self.wait(uuid, 'ACTIVE')
        self.bring(uuid, steps)
        return uuid

    def make_in_zone(self, state: str) -> str:
        """Create a server on DOWN_HOST, bring it into a state and return its id."""
        uuid = self.create(availability_zone=DOWN_ZONE)
        self.wait(uuid, 'ACTIVE')
        self.bring(uuid, answer_cases.DOWN[state])
        return uuid

    def bring(self, uuid: str, steps: Iterable[answer_cases.Step]) -> None:
        """Take a server through steps; see answer_cases.STATES."""
        path = f'/servers/{uuid}'
        for what, body, status in steps:
            user = self.admin if what == 'admin' or body == {'shelveOffload': None} else self.owner
            if what == 'delete':
                self.owner.call('DELETE', path)
            elif what == 'attach':
                body = {'volumeAttachment': {'volumeId': self.volume()}}
                self.owner.call('POST', f'{path}/os-volume_attachments', body)
            else:
                user.call('POST', f'{path}/action', json.loads(self._named(json.dumps(body))))
            self.wait(uuid, status)

    def wait(self, uuid: str, status: str) -> None:
        """Wait until a server has a status and no task. Raise Conflict when it fails."""
        deadline = runtime.monotonic() + WAIT_S
        while True:
            shown = self.show(uuid) or {'status': 'DELETED', TASK: None}
            if shown['status'] == status and (shown[TASK] is None or status == 'DELETED'):
                return
            if runtime.monotonic() > deadline or (shown['status'] == 'ERROR' != status):
                raise exception.Conflict(
                    reason=f'{self.side}: server {uuid} is {shown["status"]}, not {status}: '
                    f'{shown.get("fault")}'
                )
            runtime.sleep(POLL_S)

    def end(self, uuid: str) -> dict[str, object]:
        """Return how a server is when it no longer changes, or after END_S."""
        deadline, before = runtime.monotonic() + END_S, None
        while True:
            shown = self.show(uuid)
            now = answer_shapes.record(shown)
            if (now == before and not now.get('task')) or runtime.monotonic() > deadline:
                return {**now, **self._history(uuid)} if shown else now
            before = now
            runtime.sleep(POLL_S)

    def _history(self, uuid: str) -> dict[str, object]:
        response = self.admin.send('GET', f'/servers/{uuid}/os-instance-actions')
        actions = response.json()['instanceActions'] if response.status_code == 200 else []
        return {
            'action': actions[0]['action'] if actions else None,
            'message': actions[0]['message'] if actions else None,
            'migration': self._migration(uuid),
        }

    def _migration(self, uuid: str) -> str | None:
        query = f'/os-migrations?instance_uuid={uuid}'
        found = self.admin.call('GET', query)['migrations']
        newest = max(found, key=lambda each: each['id'], default=None)
        return newest and f'{newest["migration_type"]} {newest["status"]}'

    def discard(self, uuid: str) -> None:
        """Delete a server for good, without waiting for the end."""
        self.admin.send('POST', f'/servers/{uuid}/action', {'forceDelete': None})
        self.admin.send('DELETE', f'/servers/{uuid}')

    # ---- hosts and daemons ----

    def _prepare_zone(self) -> None:
        """Put DOWN_HOST into a zone of its own, before it has servers."""
        aggregate = {'name': DOWN_ZONE, 'availability_zone': DOWN_ZONE}
        found = self.admin.call('GET', '/os-aggregates')['aggregates']
        if any(each['name'] == DOWN_ZONE for each in found):
            return
        made = self.admin.call('POST', '/os-aggregates', {'aggregate': aggregate})['aggregate']
        path = f'/os-aggregates/{made["id"]}/action'
        self.admin.call('POST', path, {'add_host': {'host': DOWN_HOST}})

    def force_down(self, host: str, down: bool) -> None:
        """Declare that a host is down, or no longer."""
        query = f'/os-services?binary=nova-compute&host={host}'
        (service,) = self.admin.call('GET', query)['services']
        self.admin.call('PUT', f'/os-services/{service["id"]}', {'forced_down': down})

    def freeze(self, frozen: bool) -> None:
        """Stop the super-conductor by a signal, or let it continue: new servers get no host."""
        with open(os.path.join(self._directory, 'run', SUPER_CONDUCTOR)) as file:
            pid = int(file.read())
        os.killpg(os.getpgid(pid), signal.SIGSTOP if frozen else signal.SIGCONT)


def answer_of(response: requests.Response) -> answer_shapes.Answer:
    """Return what is compared of a response."""
    try:
        shape = answer_shapes.of(response.json()) if response.content else {}
    except ValueError:
        shape = {'': response.headers.get('Content-Type', '')}
    headers = {name: 'text' for name in answer_shapes.HEADERS if name in response.headers}
    return answer_shapes.Answer(response.status_code, {**shape, **headers}, response.text[:300])
