"""The operations that are compared, sent to the compute API of either cloud.

A workload boots servers, reads, moves and deletes them. Each of its scenarios returns the
figures of nova_lite.lab.bench.results: times, and CPU of all daemons of the cloud.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import dataclasses
import itertools
import os
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import results
from tools.comparison import boots
from tools.comparison import table

NAME = 'compared'
FLAVOR, OTHER_FLAVOR = 'm1.tiny', 'm1.small'
WAIT_S = 180
# Work after the moment for which a client waits belongs to the operation as well.
TAIL_S = 0.5
ACTIVE, VERIFY = 'ACTIVE', 'VERIFY_RESIZE'
# Statuses that a server may show on its way to each status.
PASSING = {ACTIVE: (VERIFY, 'REVERT_RESIZE', 'MIGRATING'), VERIFY: ('RESIZE',)}
# Requests of a client of a mix, one after the other.
SHOW, LIST, MOVE = '/servers/{server}', '/servers?limit=100', 'move'
MIX = (SHOW, LIST, SHOW, SHOW, MOVE)
# Number of servers of a mix that are created at once.
BOOTING = 16
TASK, HOST = 'OS-EXT-STS:task_state', 'OS-EXT-SRV-ATTR:host'

T = typing.TypeVar('T')
R = typing.TypeVar('R')
Server: typing.TypeAlias = dict[str, typing.Any]
Body: typing.TypeAlias = dict[str, typing.Any]
# Returns the body of an action for a server.
Content: typing.TypeAlias = Callable[[Server, 'Known'], Body]
# A name, and a function that plays the scenario and returns its figures.
Scenario: typing.TypeAlias = tuple[str, Callable[[], table.Figures]]


def busy_seconds(path: str = '/proc/stat') -> float:
    """Return the CPU seconds that all cores have spent on work, stolen time included."""
    with open(path) as file:
        fields = [int(each) for each in file.readline().split()[1:9]]
    idle, waiting = fields[3:5]
    return (sum(fields) - idle - waiting) / results.TICKS


@dataclasses.dataclass(frozen=True)
class Known:
    """The resources of a cloud for moves. hosts: {cell: [host, ...]}; flavors: {name: id}"""

    hosts: dict[str, list[str]]
    flavors: dict[str, str]

    @classmethod
    def of(cls, cloud: boots.Cloud) -> 'Known':
        """Return the resources of a cloud whose hosts are named CELL-HOST."""
        hosts: dict[str, list[str]] = {}
        for service in cloud.call('GET', '/os-services?binary=nova-compute')['services']:
            if service['state'] == 'up':
                hosts.setdefault(_cell(service['host']), []).append(service['host'])
        flavors = {name: cloud.flavor_id(name) for name in (FLAVOR, OTHER_FLAVOR)}
        return cls({cell: sorted(hosts[cell]) for cell in sorted(hosts)}, flavors)


class Workload:
    """The operations. directory: state directory of the cloud"""

    def __init__(self, cloud: boots.Cloud, directory: str, *, poll_s: float) -> None:
        self._cloud, self._directory, self._poll_s = cloud, directory, poll_s
        self._servers: list[str] = []
        self._next: Iterator[str] = iter(())
        self._known = Known.of(cloud)
        # Yields the number of shows so far with which clients waited for the end of a move.
        self._polls = itertools.count()
        # CPU seconds of all processes but this one in the last scenario.
        self._busy_s = 0.0

    # ---- scenarios ----

    def boot(self, count: int, in_flight: int) -> table.Figures:
        """Create servers; a client sends the next request when its server is ACTIVE."""
        body = self._cloud.server_body(NAME, image='cirros', flavor=FLAVOR)

        def one(_number: int) -> str:
            began = runtime.monotonic()
            uuid: str = self._cloud.call('POST', '/servers', body)['server']['id']
            measured.add('POST', runtime.monotonic() - began)
            measured.add('to ACTIVE', arrivals.wait(uuid) - began)
            return uuid

        with self._measured('boot') as measured, boots.Boots(self._cloud, self._poll_s) as arrivals:
            self._servers += self._each(one, range(count), in_flight)
        self._next = itertools.cycle(self._servers)
        return self._figures(measured)

    def read(self, path: str, count: int, clients: int) -> table.Figures:
        """Send GET `count` times. path: {server} in it is the uuid of a server of this workload"""

        def one(uuid: str) -> None:
            began = runtime.monotonic()
            self._cloud.call('GET', path.format(server=uuid))
            measured.add('GET', runtime.monotonic() - began)

        with self._measured('read') as measured:
            self._each(one, self._some(count), clients)
        return self._figures(measured)

    def move(self, content: Content, end: str | None, count: int, in_flight: int) -> table.Figures:
        """Move servers, one after the other by each of `in_flight` clients.

        content: called with a server and what is Known; returns {action: its content}
        end: confirm or revert of moves that wait for it; None for other moves
        """

        def one(uuid: str) -> None:
            self._move(measured, uuid, content, end)

        with self._measured('move') as measured:
            self._each(one, self._some(count), in_flight)
        return self._figures(measured)

    def mix(self, rounds: int, clients: int) -> table.Figures:
        """Make each client read and move a server of its own, in turn: 80 % are reads.

        Moves are cold migrations that are confirmed.
        """

        def one(uuid: str) -> None:
            for what in MIX * rounds:
                if what == MOVE:
                    self._move(measured, uuid, migrate, 'confirm')
                else:
                    began = runtime.monotonic()
                    self._cloud.call('GET', what.format(server=uuid))
                    measured.add('GET', runtime.monotonic() - began)

        self.boot(clients, BOOTING)
        with self._measured('mix') as measured:
            self._each(one, self._servers, clients)
        return self._figures(measured)

    def delete(self, in_flight: int) -> table.Figures:
        """Delete all servers of this workload, and wait until no list shows these servers."""

        def one(uuid: str) -> None:
            self._cloud.call('DELETE', f'/servers/{uuid}')

        with self._measured('delete') as measured:
            began = runtime.monotonic()
            self._each(one, self._servers, in_flight)
            left = set(self._servers)
            while left:
                found = self._cloud.call('GET', '/servers?limit=1000')['servers']
                left &= {server['id'] for server in found}
                if runtime.monotonic() - began > WAIT_S:
                    raise exception.Unavailable(
                        service=f'{len(left)} servers', reason=f'not deleted within {WAIT_S} s'
                    )
                if left:
                    runtime.sleep(self._poll_s)
            measured.times['gone'] = [runtime.monotonic() - began] * len(self._servers)
        self._servers = []
        return self._figures(measured)

    def adopt(self) -> None:
        """Register servers of a failed boot, so that `delete` deletes them."""
        found = self._cloud.call('GET', f'/servers?limit=1000&name={NAME}')['servers']
        self._servers = [server['id'] for server in found]

    # ---- parts ----

    def _move(
        self, measured: results.Measured, uuid: str, content: Content, end: str | None
    ) -> None:
        was = self._show(uuid)
        began = runtime.monotonic()
        self._cloud.call('POST', f'/servers/{uuid}/action', content(was, self._known))
        now = self._settled(uuid, VERIFY if end else ACTIVE)
        measured.add('to its status', runtime.monotonic() - began)
        if end:
            began = runtime.monotonic()
            self._cloud.call('POST', f'/servers/{uuid}/action', {f'{end}Resize': None})
            now = self._settled(uuid, ACTIVE)
            measured.add(end, runtime.monotonic() - began)
        if (now[HOST] == was[HOST]) is not (end == 'revert'):
            raise exception.Conflict(reason=f'server {uuid} ended on host {now[HOST]}')

    def _each(self, act: Callable[[T], R], items: Iterable[T], at_once: int) -> list[R]:
        with runtime.executor(at_once) as pool:
            return list(pool.map(act, items))

    def _some(self, count: int) -> list[str]:
        return list(itertools.islice(self._next, count))

    def _show(self, uuid: str) -> Server:
        server: Server = self._cloud.call('GET', f'/servers/{uuid}')['server']
        return server

    def _settled(self, uuid: str, status: str) -> Server:
        """Return a server once it has a status and no task. Poll the server as a client would."""
        deadline = runtime.monotonic() + WAIT_S
        while True:
            server = self._show(uuid)
            next(self._polls)
            if server['status'] == status and server[TASK] is None:
                return server
            if server['status'] not in (status, *PASSING[status]):
                fault = server.get('fault', {}).get('message')
                raise exception.Conflict(reason=f'server {uuid} is {server["status"]}: {fault}')
            if runtime.monotonic() > deadline:
                raise exception.Unavailable(
                    service=f'Server {uuid}', reason=f'not {status} within {WAIT_S} s'
                )
            runtime.sleep(self._poll_s)

    @contextlib.contextmanager
    def _measured(self, name: str) -> Iterator[results.Measured]:
        measured = results.Measured(name, self._directory, ())
        measured.begin()
        self._polls = itertools.count()
        busy = -busy_seconds() + results.cpu_seconds(os.getpid())
        yield measured
        measured.end(max(map(len, measured.times.values())), tail_s=TAIL_S)
        self._busy_s = busy + busy_seconds() - results.cpu_seconds(os.getpid())

    def _figures(self, measured: results.Measured) -> table.Figures:
        """Return the figures, with `others`, the cores that other processes used, and `polls`.

        polls: number of shows for each operation with which clients waited for its end
        """
        found: table.Figures = measured.as_dict()
        cloud_s = found['cpu_s_per_operation'] * found['operations']
        return {
            **found,
            'others': (self._busy_s - cloud_s) / (found['seconds'] + TAIL_S),
            'polls': next(self._polls) / found['operations'],
        }


def _cell(host: str) -> str:
    return host.partition('-')[0]


def resize(server: Server, known: Known) -> Body:
    """Return a resize to the other flavor."""
    name = server['flavor']['original_name']
    return {'resize': {'flavorRef': known.flavors[OTHER_FLAVOR if name == FLAVOR else FLAVOR]}}


def migrate(_server: Server, _known: Known) -> Body:
    """Return a cold migration to a host of the scheduler's choice."""
    return {'migrate': None}


def live_migrate(server: Server, known: Known) -> Body:
    """Return a live migration to the other host of the cell, which is checked, not forced."""
    here = server[HOST]
    host = next(each for each in known.hosts[_cell(here)] if each != here)
    return {'os-migrateLive': {'host': host, 'block_migration': 'auto'}}


def cross_cell(server: Server, known: Known) -> Body:
    """Return a cold migration to a host of another cell."""
    cell = next(each for each in known.hosts if each != _cell(server[HOST]))
    return {'migrate': {'host': known.hosts[cell][0]}}


def scenarios(workload: Workload, scale: float = 1) -> Iterator[Scenario]:
    """Yield all scenarios in their order.

    scale: multiplies the numbers of operations
    """

    def times(count: int) -> int:
        return max(1, round(count * scale))

    def add(name: str, method: Callable[..., table.Figures], *args: object) -> Scenario:
        return name, lambda: method(*args)

    detail = '/servers/detail?limit=1000'
    yield add('boot-16', workload.boot, times(48), 16)
    yield add('boot-1', workload.boot, times(12), 1)
    yield add('list-1', workload.read, detail, times(20), 1)
    yield add('list-4', workload.read, detail, times(20), 4)
    yield add('show-1', workload.read, SHOW, times(100), 1)
    yield add('show-4', workload.read, SHOW, times(100), 4)
    yield add('resize-1', workload.move, resize, 'confirm', times(6), 1)
    yield add('resize-4', workload.move, resize, 'confirm', times(8), 4)
    yield add('migrate', workload.move, migrate, 'confirm', times(6), 1)
    yield add('live-migrate', workload.move, live_migrate, None, times(6), 1)
    yield add('cross-cell', workload.move, cross_cell, 'confirm', times(4), 1)
    yield add('cross-cell-revert', workload.move, cross_cell, 'revert', times(4), 1)
    yield add('delete', workload.delete, 8)
