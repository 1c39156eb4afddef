"""The simulated driver: turns calls of the protocol into requests for jobs.

`nova_lite.virt.driver` describes each method. All state is in the file at `path`; another
SimDriver on the same file continues where this one stopped.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import fnmatch
import json
import sqlite3
from typing import Any

from oslo_config import cfg

from nova_lite import exception
from nova_lite.virt import model
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import agents
from nova_lite.virt.sim import facts
from nova_lite.virt.sim import guest_rows
from nova_lite.virt.sim import jobs
from nova_lite.virt.sim import measures
from nova_lite.virt.sim import passwords
from nova_lite.virt.sim import profile as profiles
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import store

# The name in [compute]driver.
NAME = 'sim'
Verb = model.Verb
_DEVICE_VERBS = {
    model.DeviceKind.VOLUME: (Verb.ATTACH_VOLUME, Verb.DETACH_VOLUME),
    model.DeviceKind.INTERFACE: (Verb.ATTACH_INTERFACE, Verb.DETACH_INTERFACE),
    model.DeviceKind.SHARE: (Verb.MOUNT_SHARE, Verb.UNMOUNT_SHARE),
}


class SimDriver:
    """Simulated hosts in one file.

    nodes: names of the nodes; profile: name of a bundled profile, a path, or a rules.Profile
    speed: factor by which operations are faster than in the profile
    """

    def __init__(
        self,
        path: str,
        nodes: Iterable[str],
        profile: str | rules.Profile = 'default',
        *,
        speed: float = 1.0,
    ) -> None:
        if speed <= 0:
            raise exception.Invalid(reason='speed must be more than 0')
        self._nodes = dict.fromkeys(nodes)
        profile = _load(profile)
        self._store = store.Store(path)
        self._jobs = jobs.Jobs(self._store, profile, speed)

    @property
    def profile(self) -> rules.Profile:
        """Return the profile in force."""
        return self._jobs.profile

    def reload(self, conf: cfg.ConfigOpts) -> None:
        self.use_profile(conf.compute.profile)

    def use_profile(self, profile: str | rules.Profile | None = None) -> None:
        """Change the profile, or read its source again.

        Raises ProfileError or OSError, and then keeps the profile in force.
        """
        self._jobs.profile = _load(profile or self.profile.source)

    def inject(self, find: Callable[[], tuple[rules.FailureRule, ...]]) -> None:
        """Set the function that returns injected failures: they come before the profile's."""
        self._jobs.injected = find

    def close(self) -> None:
        self._store.close()

    # ---- nodes ------------------------------------------------------------

    def list_nodes(self) -> list[str]:
        return list(self._nodes)

    def up_nodes(self) -> set[str]:
        with self._store.read() as tx:
            return self._nodes.keys() - store.nodes_off(tx)

    def get_facts(self, node: str) -> model.NodeFacts:
        behaviour = self._behaviour(node)
        with self._store.read() as tx:
            _powered, booted_at = store.node_power(tx, node)
        return facts.node_facts(node, behaviour, booted_at)

    def get_inventory(self, node: str) -> dict[str, model.Inventory]:
        return facts.inventory(self._behaviour(node))

    def get_topology(self, node: str) -> topology.Host | None:
        return self._behaviour(node).numa

    def get_devices(self, node: str) -> tuple[pci.Device, ...]:
        return self._behaviour(node).pci

    def get_nested_providers(self, node: str) -> tuple[model.NestedProvider, ...]:
        return agents.nested_providers(self._behaviour(node))

    def get_volume_connector(self, node: str) -> model.Json:
        return facts.volume_connector(node, self._behaviour(node).architecture)

    def can_connect_volume(self, node: str, connection_info: model.Json) -> bool:
        kind = connection_info.get('driver_volume_type', '')
        return any(
            fnmatch.fnmatchcase(kind, pattern) for pattern in self._behaviour(node).volume_types
        )

    def get_password_support(self, node: str) -> model.PasswordSupport:
        return self._behaviour(node).passwords

    def can_abort_live_migration(self, node: str) -> bool:
        return bool(self._behaviour(node).live_migration['abort'])

    def get_host_cpu_stats(self, node: str) -> model.CpuStats:
        behaviour = self._behaviour(node)
        self._jobs.settle_node(node)
        return measures.count_cpu_time(self._store, node, behaviour, self.profile.usage)

    def cache_image(self, node: str, image_id: str, *, key: str) -> model.Job:
        return self._start(node, image_id, Verb.CACHE_IMAGE, key)

    def _check(self, node: str) -> None:
        if node not in self._nodes:
            raise exception.ComputeNodeNotFound(node=node)

    def _behaviour(self, node: str) -> rules.Behaviour:
        self._check(node)
        return self.profile.behaviour(node)

    # ---- guests -----------------------------------------------------------

    def occupied_nodes(self) -> set[str]:
        with self._store.read() as tx:
            return store.nodes_occupied(tx)

    def list_guests(self, node: str) -> list[model.Guest]:
        self._check(node)
        self._jobs.settle_node(node)
        with self._store.read() as tx:
            return guest_rows.of_node(tx, node)

    def get_guest(self, node: str, guest: str) -> model.Guest:
        return guest_rows.guest_of(self._row(node, guest))

    def get_console_output(self, node: str, guest: str, lines: int | None = None) -> str:
        row = self._row(node, guest)
        found = facts.console_output(
            guest_rows.guest_of(row), row['rescue_image'], self._store.now()
        )
        if lines is not None:
            found = found[-lines:] if lines > 0 else []
        # As of a terminal: what follows the last line, a prompt, has no line break.
        return '\n'.join(found)

    def get_diagnostics(self, node: str, guest: str) -> model.Json:
        kind = self.profile.behaviour(node).hypervisor['type']
        found = self.get_guest(node, guest)
        used = self.profile.usage(node, found.spec)
        return facts.diagnostics(found, kind, self._store.now(), used)

    def list_volume_usage(self, node: str, guest: str | None = None) -> list[model.VolumeUsage]:
        found = [each for each in self.list_guests(node) if guest in (None, each.uuid)]
        return measures.volumes(found, self._store.now(), self.profile.usage)

    def _row(self, node: str, guest: str) -> sqlite3.Row:
        self._check(node)
        self._jobs.settle_node(node)
        with self._store.read() as tx:
            row = store.find_guest(tx, node, guest) or store.find_guest(
                tx, node, guest, departed=True
            )
        if row is None:
            raise exception.GuestNotFound(uuid=guest, node=node)
        return row

    # ---- jobs -------------------------------------------------------------

    def poll(self, job_id: str) -> model.Job:
        return self._jobs.poll(job_id)

    def list_jobs(self, node: str, guest: str | None = None) -> list[model.Job]:
        self._check(node)
        return self._jobs.running(node, guest)

    def read_snapshot(self, job_id: str) -> Iterator[bytes]:
        job = self.poll(job_id)
        if job.verb is not Verb.SNAPSHOT or job.state is not model.JobState.DONE:
            raise exception.NotFound(f'Job {job_id} is not a snapshot that is done.')
        return facts.snapshot_bytes(job.guest, job.result['size'])

    def _start(self, node: str, guest: str, verb: str, key: str, **request: Any) -> model.Job:
        self._check(node)
        return self._jobs.start(jobs.Request(node, guest, Verb(verb), key, **request))

    # ---- life -------------------------------------------------------------

    def spawn(
        self, node: str, spec: model.GuestSpec, *, key: str, power_on: bool = True
    ) -> model.Job:
        args = {**_definition(spec), 'power_on': power_on}
        return self._start(node, spec.uuid, Verb.SPAWN, key, spec=spec, args=args)

    def destroy(
        self,
        node: str,
        guest: str,
        *,
        key: str,
        keep_disks: bool = False,
        move: str | None = None,
        seen: model.Guest | None = None,
    ) -> model.Job:
        args = {'keep_disks': keep_disks, 'seen': seen and jobs.identity(seen)}
        return self._start(node, guest, Verb.DESTROY, key, subject=move or '', args=args)

    def change_power(
        self,
        node: str,
        guest: str,
        action: model.PowerAction,
        *,
        key: str,
        spec: model.GuestSpec | None = None,
    ) -> model.Job:
        crash_dump = self._behaviour(node).crash_dump
        args = {**_definition(spec), 'crash_dump': crash_dump}
        return self._start(node, guest, model.PowerAction(action), key, args=args)

    def set_admin_password(self, node: str, guest: str, password: str, *, key: str) -> model.Job:
        kept = passwords.hashed(password)
        return self._start(node, guest, Verb.SET_PASSWORD, key, args={'password': kept})

    def snapshot(self, node: str, guest: str, *, key: str) -> model.Job:
        size = self._behaviour(node).snapshot_bytes
        return self._start(node, guest, Verb.SNAPSHOT, key, args={'size': size})

    def attach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        attach, _detach = _DEVICE_VERBS[device.kind]
        return self._start(
            node,
            guest,
            attach,
            key,
            subject=device.id,
            args={'kind': device.kind, 'device': device.to_dict()},
        )

    def detach(self, node: str, guest: str, device: model.Device, *, key: str) -> model.Job:
        _attach, detach = _DEVICE_VERBS[device.kind]
        return self._start(node, guest, detach, key, subject=device.id, args={'kind': device.kind})

    # ---- cold moves -------------------------------------------------------

    def migrate_out(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        return self._start(node, guest, Verb.MIGRATE_OUT, key, subject=move)

    def finish_migration(
        self,
        node: str,
        spec: model.GuestSpec,
        handover: model.Handover,
        *,
        key: str,
        power_on: bool,
    ) -> model.Job:
        return self._start(
            node,
            spec.uuid,
            Verb.FINISH_MIGRATION,
            key,
            subject=handover.get('move', ''),
            spec=spec,
            args={**_definition(spec), 'handover': handover, 'power_on': power_on},
        )

    def revert_migration(
        self,
        node: str,
        guest: str,
        move: str,
        *,
        key: str,
        power_on: bool,
        devices: Sequence[model.Device] | None = None,
    ) -> model.Job:
        args: model.Json = {'power_on': power_on}
        if devices is not None:
            args['devices'] = [device.to_dict() for device in devices]
        return self._start(node, guest, Verb.REVERT_MIGRATION, key, subject=move, args=args)

    def confirm_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        return self._start(node, guest, Verb.CONFIRM_MIGRATION, key, subject=move)

    # ---- live moves -------------------------------------------------------

    def check_live_migration(
        self,
        node: str,
        spec: model.GuestSpec,
        *,
        source: model.NodeFacts,
        dest: model.NodeFacts,
        key: str,
    ) -> model.Job:
        # A guest may be checked against several destinations under one key.
        return self._start(
            node,
            spec.uuid,
            Verb.CHECK_LIVE_MIGRATION,
            key,
            spec=spec,
            subject=dest.hypervisor_hostname,
            args={'refusal': facts.check_migration(source, dest)},
        )

    def pre_live_migration(
        self, node: str, spec: model.GuestSpec, move: str, *, key: str
    ) -> model.Job:
        return self._start(
            node,
            spec.uuid,
            Verb.PRE_LIVE_MIGRATION,
            key,
            subject=move,
            spec=spec,
            args=_definition(spec),
        )

    def live_migrate(
        self,
        node: str,
        guest: str,
        move: str,
        *,
        key: str,
        ticket: model.Ticket,
        block_migration: bool = True,
    ) -> model.Job:
        return self._start(
            node,
            guest,
            Verb.LIVE_MIGRATE,
            key,
            subject=move,
            args={'ticket': ticket, 'block_migration': block_migration},
        )

    def abort_live_migration(self, node: str, guest: str, move: str, *, key: str) -> model.Job:
        return self._start(node, guest, Verb.ABORT_LIVE_MIGRATION, key, subject=move)

    def force_complete_live_migration(
        self, node: str, guest: str, move: str, *, key: str
    ) -> model.Job:
        return self._start(node, guest, Verb.FORCE_COMPLETE, key, subject=move)

    def post_live_migration(
        self, node: str, guest: str, handover: model.Handover, *, key: str
    ) -> model.Job:
        return self._start(
            node,
            guest,
            Verb.POST_LIVE_MIGRATION,
            key,
            subject=handover.get('move', ''),
            args={'handover': handover},
        )

    def rollback_live_migration(
        self, node: str, guest: str, move: str, *, key: str, arrived: bool = False
    ) -> model.Job:
        args = {'arrived': arrived}
        return self._start(node, guest, Verb.ROLLBACK_LIVE_MIGRATION, key, subject=move, args=args)


def _load(profile: str | rules.Profile) -> rules.Profile:
    return profile if isinstance(profile, rules.Profile) else profiles.load(profile)


def _definition(spec: model.GuestSpec | None) -> model.Json:
    if spec is None:
        return {'spec': None, 'drive': None}
    return {'spec': json.dumps(spec.to_dict()), 'drive': spec.drive}
