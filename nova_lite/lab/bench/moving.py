"""A benchmark of moves, which boots servers, moves them and deletes them.

The kinds of moves are in `moves`.
"""

import abc
import argparse
import collections
from collections.abc import Callable
from collections.abc import Sequence

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import phases
from nova_lite.lab.bench import polling
from nova_lite.lab.bench import results
from nova_lite.terminal import progress_display

# The number of servers that are booted or deleted at the same time, unmeasured.
CROWD = 16
# The timeout of a phase: seconds, and further seconds for each server.
TIMEOUT_S, TIMEOUT_EACH_S = 300, 2
LOOK_S = 0.5
ACTIVE = 'ACTIVE'


class Moves(abc.ABC):
    """One benchmark of a kind of move.

    arrives: the status that a client of the move waits for
    hosts: {server id: host} before the move
    """

    arrives = ACTIVE
    hosts_needed = 'at least two hosts in a cell'

    def __init__(self, cloud: client.Client, args: argparse.Namespace) -> None:
        self.cloud, self.args = cloud, args
        self.name = f'bench-{runtime.new_uuid()[:8]}'
        self.phases = phases.Phases(args.scenario, args)
        self.hosts: dict[str, str] = {}
        self._number = 0
        self._watch = polling.Watch(cloud, self.name, pause_s=args.poll, timeout_s=self.timeout_s)

    @property
    def timeout_s(self) -> float:
        count: int = self.args.count + self.args.waiting
        return TIMEOUT_S + TIMEOUT_EACH_S * count

    # ---- methods of a kind of move ----

    @abc.abstractmethod
    def content(self, host: str) -> client.Json:
        """Return {action: content} that moves a server away from `host`."""

    def prepare(self) -> None:
        """Check the cloud before the first server is created. Raise Invalid."""
        if max(map(len, self.cells().values())) < 2:
            raise exception.Invalid(reason=f'{self.args.scenario} needs {self.hosts_needed}')

    def placed(self) -> client.Json:
        """Return further fields for the body of a new server."""
        return {}

    # ---- the benchmark ----

    def run(self) -> phases.Phases:
        """Boot servers, measure the moves, and delete the servers. Return the figures."""
        self.prepare()
        with self._watch, self.cloud.without_quotas():
            try:
                self.measure()
            finally:
                self.clean()
        return self.phases

    def measure(self) -> None:
        """Measure the phases of the moves."""
        servers = self.boot(self.args.count)
        with self.phases.phase(f'{self.args.scenario}: to {self.arrives}') as measured:
            self.together(measured, servers, self.move)

    def boot(self, count: int) -> list[str]:
        """Boot servers, unmeasured, and wait until they are ACTIVE. Return their ids."""
        body = self.cloud.server_body(self.name, image=self.args.image, flavor=self.args.flavor)
        body['server'] |= self.placed()

        def one(_number: int) -> str:
            uuid: str = self.cloud.call('POST', '/servers', body)['server']['id']
            self._watch.wait(uuid, ACTIVE)
            counted.add()
            return uuid

        with progress_display.Count('booted', count) as counted, runtime.executor(CROWD) as pool:
            made = list(pool.map(one, range(count)))
        self.hosts |= self.where()
        return made

    def where(self) -> dict[str, str]:
        """Return {server id: host} of all servers of this benchmark."""
        return {
            server['id']: server['OS-EXT-SRV-ATTR:host']
            for server in self._watch.list('/servers/detail?')
        }

    def together(
        self,
        measured: results.Measured,
        servers: Sequence[str],
        act: Callable[[results.Measured, str], None],
    ) -> list[str]:
        """Call act(measured, server id) for all servers, `concurrency` at a time.

        Return the ids of the servers for which it succeeded; record the other errors.
        """

        def one(uuid: str) -> str | None:
            try:
                act(measured, uuid)
                return uuid
            except exception.NovaLiteError as error:
                measured.failures.append(str(error))
                return None
            finally:
                counted.add()

        with (
            progress_display.Count(measured.scenario, len(servers)) as counted,
            runtime.executor(self.args.concurrency) as pool,
        ):
            return [uuid for uuid in pool.map(one, servers) if uuid]

    def move(self, measured: results.Measured, uuid: str) -> None:
        """Move one server, and wait for the status that a client waits for."""
        self.timed(measured, uuid, self.content(self.hosts[uuid]), self.arrives)

    def timed(
        self, measured: results.Measured, uuid: str, content: client.Json, status: str
    ) -> None:
        """Send an action. Record the seconds until the response and until `status`."""
        began = runtime.monotonic()
        self.cloud.call('POST', f'/servers/{uuid}/action', content)
        measured.add('request', runtime.monotonic() - began)
        measured.add(f'to {status}', self._watch.wait(uuid, status) - began)

    def clean(self) -> None:
        """Delete all servers of this benchmark, and wait until they are gone."""
        deadline = runtime.monotonic() + self.timeout_s
        asked: dict[str, str] = {}
        left = self._left()
        with progress_display.Count('deleted', len(left)) as counted:
            while left:
                with runtime.executor(CROWD) as pool:
                    again = [uuid for uuid in left if asked.get(uuid) != 'accepted']
                    asked |= zip(again, pool.map(self._delete, again), strict=True)
                if runtime.monotonic() > deadline:
                    raise exception.Unavailable(
                        service=f'{len(left)} servers {self.name}',
                        reason=f'not deleted after {self.timeout_s} s: {asked[left[0]]}',
                    )
                runtime.sleep(LOOK_S)
                before, left = len(left), self._left()
                counted.add(before - len(left))

    def _left(self) -> list[str]:
        return [server['id'] for server in self._watch.list('/servers?')]

    def _delete(self, uuid: str) -> str:
        """Request the deletion of a server. Return 'accepted', or an error that allows a retry."""
        try:
            self.cloud.call('DELETE', f'/servers/{uuid}')
        except exception.Conflict as error:
            return str(error)
        return 'accepted'

    # ---- the cloud ----

    def services(self) -> list[client.Json]:
        """Return the compute services that are up."""
        found = self.cloud.call('GET', '/os-services?binary=nova-compute')['services']
        return [service for service in found if service['state'] == 'up']

    def cells(self) -> dict[str, list[str]]:
        """Return {cell: [host, ...]}, by the names that `nova-lite up` gives to hosts."""
        found: dict[str, list[str]] = collections.defaultdict(list)
        for service in self.services():
            if service['status'] == 'enabled':
                found[service['host'].partition('-')[0]].append(service['host'])
        if not found:
            raise exception.Invalid(reason='no compute service is up')
        return found
