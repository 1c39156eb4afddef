"""Judge rows of the table of failures that nova leaves by a cloud of nova.

  python -m tools.judge_failures --environment .venv-nova

starts a cloud of nova as tools.compare_with_nova does, with a fake driver whose operations fail on
request (tools/comparison/inside), makes each failure of nova_lite.states.nova_failures that this
driver can show, and compares how the servers end with the rows. Prints the ends. The exit code is 1
if an end differs from its row. Names of rows limit it to these.
"""

import argparse
from collections.abc import Callable
from collections.abc import Sequence
import configparser
import functools
import os
import pathlib
import signal
import sys
import tempfile
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.launcher import client_connections
from nova_lite.states import nova_failures
from tools.comparison import answer_cloud
from tools.comparison import nova_cloud
from tools.comparison import nova_config

CELL, HOSTS = 'cell1', 3
LOST, OTHER = f'{CELL}-host1', f'{CELL}-host2'
# Where nova-compute finds its driver, and the variable with the directory of the failures.
DRIVERS, DIRECTORY = pathlib.Path(nova_cloud.__file__).parent / 'inside', 'NOVA_LITE_JUDGED'
OPTIONS: nova_config.Sections = {
    'DEFAULT': {
        'compute_driver': 'failing_driver.FailingDriver',
        # So that a server can be soft-deleted.
        'reclaim_instance_interval': '3600',
        'migrate_max_retries': '0',
    }
}
# More than half of the memory of a host of nova's fake driver.
HUGE_MB = 500000
# A server whose task stays for so long keeps it.
WAIT_S, KEPT_S, POLL_S, SETTLE_S = 90, 20, 0.5, 5
TASK, HOST, VM = 'OS-EXT-STS:task_state', 'OS-EXT-SRV-ATTR:host', 'OS-EXT-STS:vm_state'
FORCE = 67
# {name of a row: method that makes the failure}
CASES = {
    'unshelve-without-image': 'unshelve_without_image',
    'rebuild-on-lost-host': 'rebuild_on_lost_host',
    'forced-evacuation-without-room': 'forced_evacuation_without_room',
}


class Failing(typing.NamedTuple):
    """An operation of the driver that fails in an action on a server.

    verb: of failing_driver; action, content: the request, see Judge.request
    before: what is done to the server before
    error: class of nova.exception, or '' for an error of the driver
    """

    verb: str
    action: str
    content: object = None
    before: str = ''
    error: str = ''


LIVE = {'host': None, 'block_migration': 'auto'}
# {name of a row, or of a failure that ends alike in both modes: how the driver shows it}
FAILING = {
    'resize-on-destination': Failing('finish_migration', 'resize'),
    'resize-on-source': Failing('migrate_disk_and_power_off', 'resize'),
    'confirm-on-source': Failing('confirm_migration', 'confirmResize', before='resize'),
    'revert-on-destination': Failing('destroy', 'revertResize', before='resize'),
    'revert-on-source': Failing('finish_revert_migration', 'revertResize', before='resize'),
    'rebuild-on-host': Failing('spawn', 'rebuild'),
    'attach-volume-on-host': Failing('attach_volume', 'attach'),
    'password-on-host': Failing('set_admin_password', 'changePassword', {'adminPass': 'sesame'}),
    'live-migration-refused': Failing(
        'check_can_live_migrate_destination', 'os-migrateLive', LIVE, error='MigrationPreCheckError'
    ),
    'live-migration-preparation': Failing('pre_live_migration', 'os-migrateLive', LIVE),
    'live-migration-copy': Failing('live_migration', 'os-migrateLive', LIVE),
    'live-migration-arrival': Failing('post_live_migration_at_destination', 'os-migrateLive', LIVE),
    'live-migration-departure': Failing('post_live_migration_at_source', 'os-migrateLive', LIVE),
    'shelve-on-host': Failing('snapshot', 'shelve'),
    'offload': Failing('destroy', 'shelve'),
    'unshelve': Failing('spawn', 'unshelve', before='shelve'),
    'delete': Failing('destroy', 'forceDelete'),
    'soft-delete': Failing('power_off', 'delete'),
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

    def request(self, uuid: str, action: str, content: object = None) -> None:
        """Request an action, or an attachment or a deletion."""
        if action == 'resize':
            content = {'flavorRef': self._flavor('m1.small')}
        elif action == 'rebuild':
            content = {'imageRef': self._image}
        if action == 'attach':
            storage = self._admin.connection.block_storage
            volume = storage.create_volume(size=1)
            storage.wait_for_status(volume, 'available')
            path = f'/servers/{uuid}/os-volume_attachments'
            self._admin.call('POST', path, {'volumeAttachment': {'volumeId': volume.id}})
        elif action == 'delete':
            self._admin.connection.compute.delete_server(uuid)
        else:
            self.act(uuid, action, content)

    def fail(self, failing: Failing) -> Json:
        """Make an operation of the driver fail. Return how the server ends."""
        uuid = self.boot()
        if failing.before:
            self.request(uuid, failing.before)
            after = {'resize': 'resized', 'shelve': 'shelved_offloaded'}[failing.before]
            self.wait(uuid, lambda found: found[VM] == after and found[TASK] is None)
        host = self.show(uuid)[HOST]
        path = pathlib.Path(os.environ[DIRECTORY], f'{failing.verb}.{uuid}')
        path.write_text(failing.error)
        refused = ''
        try:
            self.request(uuid, failing.action, failing.content)
        except exception.Conflict as error:
            refused = str(error)
        # Some failures are recorded after the task has ended.
        runtime.sleep(SETTLE_S)
        found = self.end(uuid, host)
        path.unlink()
        return found | {'refused': refused}

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
        made = {name: functools.partial(self.fail, failing) for name, failing in FAILING.items()}
        return made | {name: getattr(self, method) for name, method in CASES.items()}


def differences(failure: nova_failures.Failure, end: Json) -> list[str]:
    """Return how the end of a server differs from a row."""
    found = []
    if failure.vm_state is not None and end['vm_state'] != failure.vm_state:
        found.append(f'the state is {failure.vm_state}')
    # Some sagas set no task that could be kept.
    keeps_task = failure.keeps_task and any(each.what == 'server' for each in failure.left)
    if keeps_task != (end['task'] is not None):
        found.append('the task is kept' if keeps_task else 'there is no task')
    # The API shows faults of servers in ERROR only.
    if end['vm_state'] == 'error' and end['fault'] != failure.has_fault:
        found.append('there is a fault' if failure.has_fault else 'there is no fault')
    if failure.migration is not None and end['migration'] != failure.migration:
        found.append(f'the migration is {failure.migration}')
    return found


def judge(directory: str, names: Sequence[str]) -> int:
    """Make failures, all of them if no names are given. Return the exit code."""
    made = Judge(directory)
    with client.Client(directory).without_quotas():
        return _judged(made, names)


def _judged(made: Judge, names: Sequence[str]) -> int:
    cases = {name: case for name, case in made.cases().items() if name in names or not names}
    if CASES.keys() & cases.keys():
        made.prepare()
    wrong = 0
    for name, case in cases.items():
        end = case()
        print(f'{name}: {end}', flush=True)
        if name not in nova_failures.BY_NAME:
            continue
        for text in differences(nova_failures.BY_NAME[name], end):
            wrong += 1
            print(f'  the row says that {text}', flush=True)
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Start nova and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    parser.add_argument('names', nargs='*', metavar='ROW')
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as failures:
        os.environ.update({'PYTHONPATH': str(DRIVERS), DIRECTORY: failures})
        cloud = nova_cloud.NovaCloud(
            args.environment, (CELL,), HOSTS, notifications=False, options=OPTIONS
        )
        with cloud:
            return judge(cloud.state_dir, args.names)


if __name__ == '__main__':
    sys.exit(main())
