"""Kills during builds, deletions, power actions, and while the API accepts a server.

These are no sagas: leases, sweeps and audits finish them. Each case has a server of its
own, which ends as its user asked, or was never accepted. What is booted gets a volume that
exists: it is the server's in the end, or as free as before.
"""

import requests

from nova_lite import runtime
from tests.crash import cases
from tests.crash import faults
from tests.crash import hooks
from tests.crash import killing
from tests.crash import stage as stage_module
from tests.fixtures import attaching
from tests.fixtures import boots

READY_S = 180
GONE = None


class ActionKilling:
    """Runs cases of the table of actions. cloud: a CrashCloud, of any table"""

    def __init__(self, cloud, table=cases.ACTIONS):
        self.cloud, self.table = cloud, table
        self.stage = stage_module.Stage(cloud, cases.CROSS_CELL)
        self.faults = faults.Faults(cloud, self.stage)
        self._hands = attaching.Attaching(cloud)
        # {case: volume that its server is to have}
        self._volumes = {}

    def run(self, batch):
        """Run cases of one role; their outcomes."""
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', READY_S)
        names = {case: f'{case.name}-{runtime.new_uuid()[:8]}' for case in batch}
        servers = self._boot({case: names[case] for case in batch if case.name != 'create'})
        self._volumes = {
            case: self._hands.volume() for case in batch if case.name in ('build', 'create')
        }
        stops, missed = {}, {}
        for case in batch:
            stops[case] = self._stop(case, servers.get(case))
            runtime.spawn(self._ask, case, names[case], servers.get(case), name='asking')
            # The next server to come there must be the next case's.
            if not runtime.wait(stops[case].reached, killing.REACH_S):
                missed[case] = f'did not reach {case.when} "{case.step}"'
        with self.faults.of(batch[0].role, stops.values()) as since:
            ended = self._watch(names, since)
        found = self.cloud.findings()
        outcomes = [
            killing.Outcome(
                case,
                missed.get(case) or self._problem(ended, case, found) or killing.DONE,
                ended.get(case, killing.PATIENCE_S),
            )
            for case in batch
        ]
        self._forget([*names.values()])
        return outcomes

    def _boot(self, names):
        """{case: server} of the cases that begin with a server."""
        zone = f'nova:{self.stage.home}'
        found = {
            case: self.stage.boot_full(name, wait=False, availability_zone=zone)
            for case, name in names.items()
            if case.name != 'build'
        }
        return {case: self.cloud.wait(server) for case, server in found.items()}

    def _stop(self, case, server):
        if case.name == 'create':
            where = {'at': hooks.ACCEPT, 'kind': 'create', 'step': case.step}
        else:
            where = {'at': hooks.METHOD, 'method': case.step}
        if server is not None:
            where['uuid'] = server.id
        return self.cloud.points.stop(when=case.when, **where)

    def _ask(self, case, name, server):
        """Ask for it; the API may die before it answers."""
        compute = self.cloud.admin.compute
        try:
            if case.name == 'delete':
                compute.delete_server(server.id)
            elif case.name == 'stop':
                compute.stop_server(server.id)
            else:
                self._boot_with_volume(name, self._volumes[case])
        except (requests.ConnectionError, *boots.NO_ANSWER):
            if case.name != 'create':
                raise

    def _boot_with_volume(self, name, volume):
        image = {'source_type': 'image', 'uuid': self.cloud.image_id('cirros'), 'boot_index': 0}
        devices = [
            {**image, 'destination_type': 'local', 'delete_on_termination': True},
            {'source_type': 'volume', 'destination_type': 'volume', 'uuid': volume},
        ]
        networks = [{'uuid': self.cloud.network_id()}]
        self.cloud.boot(name, wait=False, networks=networks, block_device_mapping=devices)

    # ---- afterwards ----

    def _listed(self):
        """{name: [server, ...]}; None while the API does not answer."""
        seen = self.stage.seen()
        if seen is None:
            return None
        found = {}
        for server in seen.values():
            found.setdefault(server['name'], []).append(server)
        return found

    def _watch(self, names, since):
        """{case: seconds} of what ended as it should."""
        ended = {}
        while len(ended) < len(names) and runtime.monotonic() < since + killing.PATIENCE_S:
            listed, guests = self._listed(), self.cloud.guests()
            for case, name in names.items():
                if listed is None or case in ended:
                    continue
                over = self._is_over(case, listed.get(name, []), guests)
                if over and self._has_its_volume(case):
                    ended[case] = runtime.monotonic() - since
            runtime.sleep(0.1)
        return ended

    @classmethod
    def _is_over(cls, case, found, guests):
        status = case.move.done
        if status is GONE or cls._is_never_accepted(case):
            return not found
        if len(found) != 1 or found[0]['OS-EXT-STS:task_state'] or found[0]['status'] != status:
            return False
        wanted = [found[0]['OS-EXT-SRV-ATTR:host']] if status in killing.RUNNING else []
        return guests.get(found[0]['id'], []) == wanted

    def _problem(self, ended, case, found):
        if case not in ended:
            listed = {
                name: [each['status'] for each in servers]
                for name, servers in (self._listed() or {}).items()
            }
            return f'had not ended after {killing.PATIENCE_S} s: {listed}'
        return f'verify: {found}' if found else None

    def _has_its_volume(self, case):
        """Return whether the volume of a case, if it has one, is the server's, or free again."""
        if case not in self._volumes:
            return True
        wanted = 'available' if self._is_never_accepted(case) else 'in-use'
        return self._hands.volume_status(self._volumes[case]) == wanted

    @staticmethod
    def _is_never_accepted(case):
        """Return whether the API died before it stored the servers."""
        return case.name == 'create' and case.when == hooks.BEFORE

    def _forget(self, names):
        compute = self.cloud.admin.compute
        for name, servers in self._listed().items():
            if name in names:
                for server in servers:
                    compute.delete_server(server['id'])

        def gone():
            listed = self._listed()
            return listed is not None and not {*listed} & {*names}

        self.cloud.wait_for(gone, 'servers to be gone', READY_S)
