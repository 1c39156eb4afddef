"""A benchmark of moves: it boots its own servers, moves them, and deletes them.

The kinds of moves are in `moves`.
"""

import abc
import collections

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import phases
from nova_lite.lab.bench import polling
from nova_lite.terminal import progress_display

# Servers are booted and deleted in an unmeasured crowd.
CROWD = 16
# How long it may take for all to get where they are going: in all, and more for each.
TIMEOUT_S, TIMEOUT_EACH_S = 300, 2
LOOK_S = 0.5
ACTIVE = 'ACTIVE'


class Moves(abc.ABC):
    """One benchmark. action: name and content of the server action that moves.

    arrives: the status at which the move's client waits no longer
    """

    arrives = ACTIVE
    hosts_needed = 'at least two hosts in a cell'

    def __init__(self, cloud, args):
        self.cloud, self.args = cloud, args
        self.name = f'bench-{runtime.new_uuid()[:8]}'
        self.phases = phases.Phases(args.scenario, args)
        self.hosts = {}
        self._number = 0
        self._watch = None

    @property
    def timeout_s(self):
        return TIMEOUT_S + TIMEOUT_EACH_S * (self.args.count + self.args.waiting)

    # ---- what a kind of move says ----

    @abc.abstractmethod
    def content(self, host):
        """Return {action: content} that moves a server away from `host`."""

    def prepare(self):
        """Check the cloud before a server is created. Raise Invalid if it does not suffice."""
        if max(map(len, self.cells().values())) < 2:
            raise exception.Invalid(reason=f'{self.args.scenario} needs {self.hosts_needed}')

    def placed(self):
        """Return further fields for the body of a new server."""
        return {}

    # ---- the benchmark ----

    def run(self):
        """Boot, measure, delete. Return the Phases."""
        self.prepare()
        self._watch = polling.Watch(
            self.cloud, self.name, pause_s=self.args.poll, timeout_s=self.timeout_s
        )
        with self._watch, self.cloud.without_quotas():
            try:
                self.measure()
            finally:
                self.clean()
        return self.phases

    def measure(self):
        """Measure the phases of the moves."""
        servers = self.boot(self.args.count)
        with self.phases.phase(f'{self.args.scenario}: to {self.arrives}') as measured:
            self.together(measured, servers, self.move)

    def boot(self, count):
        """Return `count` servers that are ACTIVE, none of them on record; their ids."""
        body = self.cloud.server_body(self.name, self.args)
        body['server'] |= self.placed()

        def one(_number):
            uuid = self.cloud.call('POST', '/servers', body)['server']['id']
            self._watch.wait(uuid, ACTIVE)
            counted.add()
            return uuid

        with progress_display.Count('booted', count) as counted, runtime.executor(CROWD) as pool:
            made = list(pool.map(one, range(count)))
        self.hosts |= self.where()
        return made

    def where(self):
        """Return {server id: host} of all servers of this run."""
        return {
            server['id']: server['OS-EXT-SRV-ATTR:host']
            for server in self._watch.list('/servers/detail?')
        }

    def together(self, measured, servers, act):
        """act(measured, server) on all, `concurrency` at a time; those that succeeded."""

        def one(uuid):
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

    def move(self, measured, uuid):
        """Move one server and wait until its client would."""
        self.timed(measured, uuid, self.content(self.hosts[uuid]), self.arrives)

    def timed(self, measured, uuid, content, status):
        """Send an action; note how long the answer took, and how long until `status`."""
        began = runtime.monotonic()
        self.cloud.call('POST', f'/servers/{uuid}/action', content)
        measured.add('request', runtime.monotonic() - began)
        measured.add(f'to {status}', self._watch.wait(uuid, status) - began)

    def clean(self):
        """Delete every server of this run and wait until they are gone."""
        deadline = runtime.monotonic() + self.timeout_s
        asked, left = {}, self._left()
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

    def _left(self):
        return [server['id'] for server in self._watch.list('/servers?')]

    def _delete(self, uuid):
        """Request a deletion. Return 'accepted' or the error, after which it is repeated."""
        try:
            self.cloud.call('DELETE', f'/servers/{uuid}')
        except exception.Conflict as error:
            return str(error)
        return 'accepted'

    # ---- the cloud ----

    def services(self):
        """Return the compute services that are up."""
        found = self.cloud.call('GET', '/os-services?binary=nova-compute')['services']
        return [service for service in found if service['state'] == 'up']

    def cells(self):
        """Return {cell: [host, ...]}, by the names that `nova-lite up` gives to hosts."""
        found = collections.defaultdict(list)
        for service in self.services():
            if service['status'] == 'enabled':
                found[service['host'].partition('-')[0]].append(service['host'])
        if not found:
            raise exception.Invalid(reason='no compute service is up')
        return found
