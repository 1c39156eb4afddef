"""Judge rows of the table of failures that nova leaves by a cloud of nova.

  python -m tools.judge_failures --environment .venv-nova

starts a cloud of nova as tools.compare_with_nova does, with a fake driver that cannot finish a
resize, makes each failure of nova_lite.states.nova_failures that this driver can show, and compares
how the servers end with the rows. Prints the ends. The exit code is 1 if an end differs from its
row.
"""

import argparse
from collections.abc import Callable
from collections.abc import Sequence
import configparser
import os
import signal
import sys
import typing

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.launcher import client_connections
from nova_lite.states import nova_failures
from tools.comparison import answer_cloud
from tools.comparison import nova_cloud

CELL, HOSTS = 'cell1', 3
LOST, OTHER = f'{CELL}-host1', f'{CELL}-host2'
DRIVER = {'DEFAULT': {'compute_driver': 'fake.FakeFinishMigrationFailDriver'}}
# More than half of the memory of a host of nova's fake driver.
HUGE_MB = 500000
# A server whose task stays for so long keeps it.
WAIT_S, KEPT_S, POLL_S = 90, 20, 0.5
TASK, HOST, VM = 'OS-EXT-STS:task_state', 'OS-EXT-SRV-ATTR:host', 'OS-EXT-STS:vm_state'
FORCE = 67
# {name of a row: method that makes the failure}
CASES = {
    'resize-on-destination': 'resize_fails_on_destination',
    'unshelve-without-image': 'unshelve_without_image',
    'rebuild-on-lost-host': 'rebuild_on_lost_host',
    'forced-evacuation-without-room': 'forced_evacuation_without_room',
}
Json: typing.TypeAlias = dict[str, typing.Any]


class Judge:
    """Makes failures in a cloud of nova. directory: its state directory"""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._admin = answer_cloud.Caller(directory, client_connections.ADMIN)
        self._image = self._images()[0]['id']

    def _images(self) -> Sequence[Json]:
        return [image.to_dict() for image in self._admin.connection.image.images()]

    # ---- servers ----

    def boot(self, *, host: str | None = None, flavor: str = 'm1.tiny') -> str:
        """Return the uuid of a new server. host: where, or anywhere; flavor: its name"""
        server: Json = {
            'name': 'judged',
            'imageRef': self._image,
            'flavorRef': self._flavor(flavor),
            'networks': 'none',
        }
        if host:
            server['availability_zone'] = f'nova:{host}'
        uuid: str = self._admin.call('POST', '/servers', {'server': server})['server']['id']
        self.wait(uuid, lambda found: found[VM] == 'active' and found[TASK] is None)
        return uuid

    def _flavor(self, name: str) -> str:
        found = {
            each['name']: each['id'] for each in self._admin.call('GET', '/flavors')['flavors']
        }
        if name not in found:
            flavor = {'name': name, 'ram': HUGE_MB, 'vcpus': 1, 'disk': 1}
            return str(self._admin.call('POST', '/flavors', {'flavor': flavor})['flavor']['id'])
        return str(found[name])

    def show(self, uuid: str) -> Json:
        """Return the server."""
        found: Json = self._admin.call('GET', f'/servers/{uuid}')['server']
        return found

    def act(self, uuid: str, action: str, content: object = None, minor: int = 96) -> None:
        """Request an action."""
        self._admin.call('POST', f'/servers/{uuid}/action', {action: content}, minor)

    def wait(self, uuid: str, is_so: Callable[[Json], bool], limit_s: float = WAIT_S) -> Json:
        """Return the server when it is so, or as it is after a time limit."""
        until = runtime.monotonic() + limit_s
        while True:
            found = self.show(uuid)
            if is_so(found) or runtime.monotonic() > until:
                return found
            runtime.sleep(POLL_S)

    def end(self, uuid: str, host: str | None) -> Json:
        """Return how a server ends after a failure. host: where it was"""
        found = self.wait(uuid, lambda server: server[TASK] is None, KEPT_S)
        path = f'/os-migrations?instance_uuid={uuid}'
        migrations = self._admin.call('GET', path)['migrations']
        return {
            'vm_state': found[VM],
            'task': found[TASK],
            'fault': 'fault' in found,
            'moved': found[HOST] != host,
            'migration': migrations[0]['status'] if migrations else None,
            # For people; rows do not say these.
            'flavor': found['flavor']['original_name'],
            'image': found['image']['id'] if found['image'] else None,
            'held': self._held(uuid, migrations),
        }

    def _held(self, uuid: str, migrations: Sequence[Json]) -> Json:
        """Return {consumer: {provider: resources}} of a server and its migrations."""
        nodes = {
            provider['uuid']: provider['name']
            for provider in self._placement('/resource_providers')['resource_providers']
        }
        consumers = {'server': uuid} | {each['status']: each['uuid'] for each in migrations}
        return {
            name: {
                nodes[provider]: held['resources']
                for provider, held in self._placement(f'/allocations/{consumer}')[
                    'allocations'
                ].items()
            }
            for name, consumer in consumers.items()
        }

    def _placement(self, path: str) -> Json:
        conf = configparser.ConfigParser(interpolation=None)
        conf.read(os.path.join(self._directory, 'etc', 'api', 'nova.conf'))
        url = conf['placement']['endpoint_override']
        found: Json = self._admin.connection.session.get(url + path).json()
        return found

    def lose(self, host: str) -> None:
        """Stop the compute of a host and declare it down."""
        path = os.path.join(self._directory, 'run', f'compute.{host}.pid')
        with open(path) as file:
            os.kill(int(file.read()), signal.SIGSTOP)
        services = self._admin.call('GET', f'/os-services?host={host}')['services']
        (service,) = [each for each in services if each['binary'] == 'nova-compute']
        self._admin.call('PUT', f'/os-services/{service["id"]}', {'forced_down': True})

    # ---- failures ----

    def resize_fails_on_destination(self) -> Json:
        """The driver cannot finish the resize."""
        uuid = self.boot()
        host = self.show(uuid)[HOST]
        self.act(uuid, 'resize', {'flavorRef': self._flavor('m1.small')})
        self.wait(uuid, lambda found: found[VM] == 'error')
        return self.end(uuid, host)

    def unshelve_without_image(self) -> Json:
        """The owner deletes the image of a server that is offloaded."""
        uuid = self.boot()
        self.act(uuid, 'shelve')
        self.wait(uuid, lambda found: found[VM] == 'shelved_offloaded' and found[TASK] is None)
        (image,) = [each for each in self._images() if each['name'] == 'judged-shelved']
        self._admin.connection.image.delete_image(image['id'])
        self.act(uuid, 'unshelve')
        return self.end(uuid, None)

    def rebuild_on_lost_host(self) -> Json:
        """The host is lost before the request."""
        other = self._admin.connection.image.create_image(
            'judged-other', data=b'other', disk_format='raw', container_format='bare'
        )
        self.act(self._lost, 'rebuild', {'imageRef': other.id})
        return self.end(self._lost, LOST)

    def forced_evacuation_without_room(self) -> Json:
        """An operator forces a server to a host that is full."""
        evacuate = {'host': OTHER, 'force': True}
        self.act(self._huge, 'evacuate', evacuate, FORCE)
        return self.end(self._huge, LOST)

    def prepare(self) -> None:
        """Boot the servers of a host and lose it."""
        self._lost = self.boot(host=LOST)
        self._huge = self.boot(host=LOST, flavor='judged-huge')
        self.boot(host=OTHER, flavor='judged-huge')
        self.lose(LOST)

    def cases(self) -> dict[str, Callable[[], Json]]:
        """Return {name of a row: function that makes the failure and returns the end}."""
        return {name: getattr(self, method) for name, method in CASES.items()}


def differences(failure: nova_failures.Failure, end: Json) -> list[str]:
    """Return how the end of a server differs from a row."""
    found = []
    if failure.vm_state is not None and end['vm_state'] != failure.vm_state:
        found.append(f'the state is {failure.vm_state}')
    if failure.keeps_task != (end['task'] is not None):
        found.append('the task is kept' if failure.keeps_task else 'there is no task')
    # The API shows faults of servers in ERROR only.
    if end['vm_state'] == 'error' and end['fault'] != failure.has_fault:
        found.append('there is a fault' if failure.has_fault else 'there is no fault')
    if failure.migration is not None and end['migration'] != failure.migration:
        found.append(f'the migration is {failure.migration}')
    return found


def judge(directory: str) -> int:
    """Make all failures. Return the exit code."""
    made = Judge(directory)
    with client.Client(directory).without_quotas():
        return _judged(made)


def _judged(made: Judge) -> int:
    made.prepare()
    wrong = 0
    for name, case in made.cases().items():
        end = case()
        print(f'{name}: {end}', flush=True)
        for text in differences(nova_failures.BY_NAME[name], end):
            wrong += 1
            print(f'  the row says that {text}', flush=True)
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Start nova and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    args = parser.parse_args(argv)
    options = {'DEFAULT': dict(DRIVER['DEFAULT'])}
    cloud = nova_cloud.NovaCloud(
        args.environment, (CELL,), HOSTS, notifications=False, options=options
    )
    with cloud:
        return judge(cloud.state_dir)


if __name__ == '__main__':
    sys.exit(main())
