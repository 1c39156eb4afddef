"""Benchmarks of moves, one class for each kind.

A move that waits for its user is measured in phases: all servers move to VERIFY_RESIZE, then half
of the moves are confirmed and half are reverted. The CPU seconds are those of the whole cloud.
"""

import argparse
import functools
import os

from openstack import exceptions as sdk_exceptions

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import footprint
from nova_lite.lab.bench import moving
from nova_lite.lab.bench import results
from nova_lite.virt.sim import hostpower

VERIFY = 'VERIFY_RESIZE'


class Resizes(moving.Moves):
    """Moves that wait for a confirm or revert of their user in VERIFY_RESIZE."""

    arrives = VERIFY

    def measure(self) -> None:
        if self.args.waiting:
            self._let_wait()
        servers = self.boot(self.args.count)
        with self.phases.phase(f'{self.args.scenario}: to {VERIFY}') as measured:
            moved = self.together(measured, servers, self.move)
        half = (len(moved) + 1) // 2
        for name, part in (('confirm', moved[:half]), ('revert', moved[half:])):
            if part:
                with self.phases.phase(f'{self.args.scenario}: {name}') as measured:
                    self.together(measured, part, functools.partial(self._end, name))

    def _end(self, name: str, measured: results.Measured, uuid: str) -> None:
        self.timed(measured, uuid, {f'{name}Resize': None}, moving.ACTIVE)

    # ---- many moves that wait ----

    def _let_wait(self) -> None:
        """Request many moves at once, and leave them in VERIFY_RESIZE."""
        held = footprint.Footprint(self.args.state_dir)
        servers = self.boot(self.args.waiting)
        self._note(held, 'before', 0, 0)
        with self.phases.phase(f'{self.args.scenario}: {len(servers)} at once') as measured:
            began = runtime.monotonic()
            asked = self.together(measured, servers, self._ask)
            self._note_peak(held, set(asked), measured, began)
        self._note(held, 'at rest', 0, len(self._watch.list(f'/servers?status={VERIFY}')))

    def _ask(self, measured: results.Measured, uuid: str) -> None:
        began = runtime.monotonic()
        self.cloud.call('POST', f'/servers/{uuid}/action', self.content(self.hosts[uuid]))
        measured.add('request', runtime.monotonic() - began)

    def _note_peak(
        self, held: footprint.Footprint, left: set[str], measured: results.Measured, began: float
    ) -> None:
        """Wait until all of `left` have arrived. Record the most threads and memory."""
        deadline, asked = began + self.timeout_s, len(left)
        peak, at = held.look(), (len(left), 0)
        while left:
            there = {server['id'] for server in self._watch.list(f'/servers?status={VERIFY}')}
            left -= there
            now = runtime.monotonic()
            found = held.look()
            if (found['threads'], found['memory_mib']) > (peak['threads'], peak['memory_mib']):
                peak, at = found, (len(left), asked - len(left))
            if now > deadline:
                measured.failures.append(
                    f'{len(left)} servers not {VERIFY} after {self.timeout_s} s'
                )
                break
            runtime.sleep(max(self.args.poll, 0.25))
        measured.add(f'all to {VERIFY}', runtime.monotonic() - began)
        self._add('at the peak', peak, *at)

    def _note(self, held: footprint.Footprint, when: str, running: int, waiting: int) -> None:
        self._add(when, held.look(), running, waiting)

    def _add(self, when: str, found: dict[str, float], running: int, waiting: int) -> None:
        self.phases.footprints.append(
            {'when': when, 'running': running, 'waiting': waiting, **found}
        )


class Resize(Resizes):
    """Resize to another flavor within the cell."""

    def prepare(self) -> None:
        super().prepare()
        args = self.args
        if args.new_flavor == args.flavor:
            raise exception.Invalid(reason='--new-flavor must differ from --flavor')
        self._flavor = self.cloud.flavor_id(args.new_flavor)

    def content(self, host: str) -> client.Json:
        return {'resize': {'flavorRef': self._flavor}}


class Migrate(Resizes):
    """Cold migration to a host within the cell that the scheduler selects."""

    def content(self, host: str) -> client.Json:
        return {'migrate': None}


class CrossCell(Resizes):
    """Cold migration to the hosts of other cells, in turn."""

    def prepare(self) -> None:
        if len(self.cells()) < 2:
            raise exception.Invalid(
                reason='cross-cell needs hosts in at least two cells, named CELL-HOST'
            )
        self._targets = self.cells()

    def content(self, host: str) -> client.Json:
        here = host.partition('-')[0]
        others = [
            name for cell, names in sorted(self._targets.items()) if cell != here for name in names
        ]
        self._number += 1
        return {'migrate': {'host': others[self._number % len(others)]}}


class LiveMigrate(moving.Moves):
    """Live migration to a host that the scheduler selects."""

    def content(self, host: str) -> client.Json:
        return {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}


class Evacuate(moving.Moves):
    """Evacuation of a simulated host, which has no other servers and is powered off."""

    def prepare(self) -> None:
        super().prepare()
        busy = {
            server['OS-EXT-SRV-ATTR:host']
            for server in self.cloud.call('GET', '/servers/detail?all_tenants=1')['servers']
        }
        cells = [hosts for hosts in self.cells().values() if len(hosts) > 1]
        idle = [host for hosts in cells for host in hosts if host not in busy]
        if not idle:
            raise exception.Invalid(
                reason='evacuate powers off a host, and needs one without servers'
            )
        self._victim = idle[0]
        cell = self._victim.partition('-')[0]
        self._guests = os.path.join(self.args.state_dir, 'guests', cell, 'guests.sqlite')
        if not os.path.exists(self._guests):
            raise exception.Invalid(reason=f'{self._victim} is not a simulated host of this cloud')

    def placed(self) -> client.Json:
        return {'host': self._victim}

    def content(self, host: str) -> client.Json:
        return {'evacuate': {}}

    def measure(self) -> None:
        servers = self.boot(self.args.count)
        hostpower.power_off(self._guests, self._victim)
        self._force_down(True)
        with self.phases.phase('evacuate: to ACTIVE') as measured:
            self.together(measured, servers, self.move)

    def clean(self) -> None:
        """Power the host on, which removes the evacuated guests, and delete the servers."""
        hostpower.power_on(self._guests, self._victim)
        deadline = runtime.monotonic() + self.timeout_s
        while True:
            try:
                self._force_down(False)
                break
            except exception.Conflict as error:
                # The host needs a heartbeat or two to remove the guests.
                if runtime.monotonic() > deadline:
                    raise exception.Unavailable(
                        service=self._victim, reason=f'stays forced down: {error}'
                    ) from error
            runtime.sleep(moving.LOOK_S)
        super().clean()

    def _force_down(self, forced: bool) -> None:
        found = self.cloud.call('GET', f'/os-services?binary=nova-compute&host={self._victim}')
        uuid = found['services'][0]['id']
        self.cloud.call('PUT', f'/os-services/{uuid}', {'forced_down': forced})


SCENARIOS: dict[str, type[moving.Moves]] = {
    'resize': Resize,
    'migrate': Migrate,
    'live-migrate': LiveMigrate,
    'evacuate': Evacuate,
    'cross-cell': CrossCell,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that only benchmarks of moves use."""
    parser.add_argument(
        '--new-flavor',
        default='m1.small',
        metavar='NAME',
        help='flavor of a resize (default: %(default)s)',
    )
    parser.add_argument(
        '--waiting',
        type=int,
        default=0,
        metavar='N',
        help='first request N moves at once and leave them in VERIFY_RESIZE (default: %(default)s)',
    )


def check(args: argparse.Namespace) -> None:
    """Raise Invalid for values out of range, and for options that contradict each other."""
    for name in ('count', 'concurrency'):
        if getattr(args, name) < 1:
            raise exception.Invalid(reason=f'--{name} must be at least 1')
    if args.waiting < 0:
        raise exception.Invalid(reason='--waiting must not be negative')
    if args.waiting and not issubclass(SCENARIOS.get(args.scenario, object), Resizes):
        waiting = ', '.join(name for name, kind in SCENARIOS.items() if issubclass(kind, Resizes))
        raise exception.Invalid(
            reason=f'--waiting applies only to moves that wait for a confirm: {waiting}'
        )


def run(args: argparse.Namespace) -> int:
    """Measure one kind of move, and print the figures. Return the exit code."""
    try:
        cloud = client.Client(args.state_dir)
        found = SCENARIOS[args.scenario](cloud, args).run()
    except sdk_exceptions.SDKException as error:
        raise exception.Invalid(reason=error) from error
    found.print(as_json=args.json)
    return 1 if found.failures else 0
