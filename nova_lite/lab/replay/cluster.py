"""The cloud of a study: an embedded cloud whose hosts have reported."""

from collections.abc import Iterator
import contextlib
import dataclasses
import functools
import sys
import typing

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import embedded
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import make
from nova_lite.lab.launcher.cloud_file import settings as file_settings
from nova_lite.lab.launcher.cloud_file import starting
from nova_lite.lab.replay import tracked_hosts
from nova_lite.scheduler import hosts
from nova_lite.scheduler import manager as scheduler_manager
from nova_lite.terminal import plurals
from nova_lite.terminal import progress_display

LIMIT = 'max_placement_results'


class NotComplete(exception.Unavailable):
    msg = 'Cells %(cells)s of the cloud of the study do not answer'


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The hosts of a cloud that only the study changes.

    cells: the cells of its control plane
    """

    places: layout.Layout
    cells: deployment.Cells
    states: list[hosts.HostState]
    aggregates: hosts.Aggregates

    def conf(self, options: dict[str, dict[str, str]]) -> cfg.ConfigOpts:
        """Return the configuration of the cloud's scheduler with other values of options.

        options: {group: {option: value}}
        Candidates are limited by the number of hosts, unless an option of the cloud limits them.
        """
        conf: cfg.ConfigOpts = conf_module.make_conf(
            files=[self.places.path('etc', 'control.conf')]
        )
        if LIMIT not in self.places.settings.options.get('scheduler', {}):
            most = max(conf.scheduler.max_placement_results, len(self.states))
            conf.set_override(LIMIT, most, group='scheduler')
        for group, given in options.items():
            for name, value in given.items():
                conf.set_override(name, value, group=group)
        return conf


class Wanted(typing.NamedTuple):
    """A cloud to start.

    described: the contents of the cloud's file, or None
    snapshot: the snapshot with which a new cloud continues, or None
    """

    settings: layout.Settings
    described: file_settings.Described | None = None
    snapshot: cloud_snapshots.Snapshot | None = None


@contextlib.contextmanager
def started(wanted: Wanted) -> Iterator[Cluster]:
    """Start a cloud for the block, and stop it afterwards. The cloud's daemons do not run.

    Placement and the identity service answer. The daemons would regard the claims of a study as
    errors, because no server has these claims.
    """
    with running(wanted) as cloud:
        yield _read(cloud)


@contextlib.contextmanager
def running(wanted: Wanted, clock: typing.Any = None) -> Iterator[embedded.EmbeddedCloud]:
    """Start a cloud whose hosts have reported, and stop it at the end.

    clock: the Control of the cloud's clock, None if the clock cannot be changed
    """
    cloud = embedded.EmbeddedCloud(wanted.settings)
    described = wanted.described
    cloud.clock = clock
    if wanted.snapshot is not None:
        cloud.places.hold()
        continuing.resume(wanted.snapshot, cloud.places)
    cloud.places.prepare()
    if described is not None:
        starting.prepare(cloud.places, described)
    make.log_to_file(cloud.places.path('log', 'nova-lite.log'), False)
    hosts = sum(host_names.counts(wanted.settings.hosts, wanted.settings.cells))
    cells = plurals.of(wanted.settings.cells, 'cell')
    title = f'Starting a cloud: {cells}, {plurals.of(hosts, "simulated host")}'
    try:
        with progress_display.Steps(title, stream=sys.stderr) as steps:
            fill = None
            if described is not None:
                fill = functools.partial(starting.fill, cloud.places, described)
            cloud.start(progress=steps.begin, fill=fill)
            if described is not None:
                starting.apply(cloud.places, described)
            steps.begin('reports of the hosts')
            cloud.wait_reported()
        try:
            yield cloud
        finally:
            cloud.stop()
    finally:
        make.stop_logging()


def _read(cloud: embedded.EmbeddedCloud) -> Cluster:
    (scheduler,) = cloud.managers(scheduler_manager.SchedulerManager)
    states = scheduler.world.states
    snapshot = states.get(states.version())
    if snapshot.missing:
        raise NotComplete(cells=', '.join(snapshot.missing.values()))
    for name in list(cloud.daemons):
        if name != 'scheduler':
            cloud.stop_daemon(name)
    return Cluster(
        places=cloud.places,
        cells=scheduler.world.cells,
        states=tracked_hosts.in_order(snapshot.hosts.values()),
        aggregates=snapshot.aggregates,
    )
