"""The plan of a study, as its directory keeps it."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import hashlib
import json
import os
import typing

from nova_lite import exception
from nova_lite.daemons.wsgi import server
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import settings as file_settings
from nova_lite.lab.replay import cluster
from nova_lite.lab.replay import flavors as choices
from nova_lite.lab.replay import readers
from nova_lite.lab.replay import settings
from nova_lite.lab.replay import trace as traces
from nova_lite.lab.replay.readers import machine as machines
from nova_lite.virt.sim import profile

FILE, PROGRESS, CLOUD = 'study.json', 'progress.json', 'cloud'
# The contents of the files of a study besides its trace.
FLAVORS, DESCRIPTION = 'list of flavors', 'description of the cloud'
PROFILE = 'profile of the hosts'

NO_OPTIONS: Mapping[str, Mapping[str, str]] = {}
DEFAULTS: dict[str, typing.Any] = {'cells': 1, 'hosts': 100, 'profile': 'default'}
# Options of a cloud in which servers are booted: each decision reads placement again, so that it
# does not depend on the time of an earlier answer, and no quota limits the trace.
BOOTED: Mapping[str, Mapping[str, str]] = {
    'scheduler': {'candidates_reuse_s': '0', 'host_state_reuse_s': '0'},
    'quota': {'instances': '-1', 'cores': '-1', 'ram': '-1'},
}
# The format whose sizes are fractions of a machine.
FRACTIONS = 'azure-packing'
# Values of options with which the scheduler makes no random choice.
SETTLED = {'host_subset_size': '1', 'shuffle_best_same_weighed_hosts': 'false'}


class Exists(exception.Conflict):
    msg = (
        'The directory %(directory)s has files already. Choose another --output, delete it, or '
        'continue an interrupted study with `nova-lite replay --continue %(directory)s`.'
    )


class NotInterrupted(exception.Invalid):
    msg = 'The directory %(directory)s has no interrupted study: %(path)s does not exist'


class NotMade(exception.Invalid):
    msg = '--output: the directory %(directory)s cannot be made: %(reason)s. Choose another.'


class Spoiled(exception.Invalid):
    msg = 'The file %(path)s cannot be used: %(reason)s. Begin another study.'


class Changed(exception.Conflict):
    msg = 'The %(what)s in %(path)s has changed since the study began. Begin another study.'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A study. trace: path; format: a name of readers.READERS

    machine, machine_size: for a trace whose sizes are fractions; see readers.machine.Type
    digest: SHA-256 of the trace; limit: number of arrivals, None for all
    digests: see digests_of; empty until the study begins
    flavors: path of a list of flavors, None for a flavor for each size
    reference: [vCPUs, MiB, GiB] of the reference flavor (figures.Sample.fit), None for the largest
    vary: texts, as for settings.of
    cells, hosts, profile, options, tuned: as in layout.Settings; None if not given
    cloud_file: path of a file that describes the cloud, as for `nova-lite up -f`
    boots: whether servers are booted, each setting in a cloud of its own
    migrations, lose_host: disturbances, only if servers are booted
    asks_always: whether to ask placement for candidates at each decision
    """

    trace: str
    format: str
    digest: str
    seed: int
    machine: str | None
    machine_size: list[int] | None
    limit: int | None
    flavors: str | None
    reference: list[int] | None
    vary: list[str]
    cells: int | None
    hosts: int | None
    profile: str | None
    options: dict[str, dict[str, str]]
    tuned: bool
    asks_always: bool = False
    boots: bool = False
    migrations: int = 0
    lose_host: bool = False
    cloud_file: str | None = None
    digests: dict[str, str] = dataclasses.field(default_factory=dict)

    def read(self) -> traces.Trace:
        """Return the trace. Raise TraceError, Empty, Changed."""
        size = traces.Size(*self.machine_size) if self.machine_size else machines.SIZE
        machines_of = readers.READERS[self.format](self.trace, machines.Type(self.machine, size))
        found = traces.Trace(self.trace, machines_of, most=self.limit)
        if self.digest and self.digest != found.digest:
            raise Changed(what='trace', path=self.trace)
        return found

    def digests_of(self, wanted: cluster.Wanted) -> dict[str, str]:
        """Return {content: SHA-256} of the files besides the trace. Raise Changed.

        wanted: the cloud, as `cloud` returns it
        """
        described = None if wanted.described is None else wanted.described.profile
        source = wanted.settings.profile
        texts = {
            FLAVORS: _content(self.flavors),
            DESCRIPTION: _content(self.cloud_file),
            # The file of the cloud has settings of hosts, and may name a file with others.
            PROFILE: _content(None if source in profile.bundled() else source)
            if described is None
            else described.encode(),
        }
        found = {
            what: hashlib.sha256(text).hexdigest()
            for what, text in texts.items()
            if text is not None
        }
        paths = {
            FLAVORS: self.flavors,
            DESCRIPTION: self.cloud_file,
            PROFILE: self.profile or self.cloud_file,
        }
        for what, digest in self.digests.items():
            if found.get(what) != digest:
                raise Changed(what=what, path=paths[what])
        return found

    def flavors_of(self, found: traces.Trace) -> choices.Flavors:
        """Return the flavor of each size. Raise NoFlavor, TraceError."""
        if self.flavors is None:
            return choices.exact(found.sizes())
        return choices.of_list(found, self.flavors)

    def reference_of(self, chosen: choices.Flavors) -> traces.Size:
        """Return the size of the reference flavor."""
        if self.reference is not None:
            return traces.Size(*self.reference)
        return max(map(choices.size_of, chosen.values()))

    def settings(self) -> list[settings.Setting]:
        """Return the settings to compare. Raise ValueError."""
        found = settings.of(self.vary)
        if (self.migrations or self.lose_host) and not self.boots:
            raise ValueError('--migrations and --lose-host need --boots: decisions move no server')
        if self.asks_always and self.boots:
            raise ValueError(
                '--ask-always: with --boots, placement is asked at each decision anyway'
            )
        if (self.machine or self.machine_size) and self.format != FRACTIONS:
            raise ValueError(
                f'--machine and --machine-size are for traces of format {FRACTIONS}; this one has '
                f'format {self.format}'
            )
        for setting in found if self.boots else ():
            given = merged(self.options, setting.options).get('filter_scheduler', {})
            for name, usual in SETTLED.items():
                if given.get(name, usual).lower() != usual:
                    raise ValueError(
                        f'--boots: {name}={given[name]} makes the scheduler choose by chance, which '
                        'only a study of decisions can repeat'
                    )
        return found

    def cloud(
        self, directory: str, options: Mapping[str, Mapping[str, str]] = NO_OPTIONS
    ) -> cluster.Wanted:
        """Return the cloud of a study in a directory. options: further options

        Raise ProfileError, and the errors of the file that describes it.
        """
        state_dir = os.path.join(directory, CLOUD)
        asked = {'cells': self.cells, 'hosts': self.hosts, 'profile': self.profile}
        given = {name: value for name, value in asked.items() if value is not None}
        chosen: dict[str, typing.Any] = {**given, 'options': self.options}
        described = None
        if self.cloud_file is not None:
            described = file_settings.read(self.cloud_file, state_dir)
            chosen = file_settings.merged(described, chosen, has_bus=False)
        usual = BOOTED if self.boots else NO_OPTIONS
        chosen['options'] = merged(usual, chosen.get('options', {}), options)
        settings_of = layout.Settings(
            state_dir=state_dir,
            port=server.free_port(),
            tuned_placement=self.tuned,
            **{**DEFAULTS, **chosen},
        )
        if described is None:
            # With a wrong profile the cloud would not start.
            profile.load(settings_of.profile)
        return cluster.Wanted(settings_of, described)

    def describe(
        self, found: traces.Trace, chosen: choices.Flavors, wanted: cluster.Wanted
    ) -> dict[str, typing.Any]:
        """Return the study for its results, without paths of this machine."""
        cloud = wanted.settings
        return {
            **dataclasses.asdict(self),
            'trace': os.path.basename(self.trace),
            'digest': found.digest,
            'flavors': sorted({flavor.name for flavor in chosen.values()}),
            'reference': dataclasses.astuple(self.reference_of(chosen)),
            'cloud_file': self.cloud_file and os.path.basename(self.cloud_file),
            'profile': os.path.basename(cloud.profile),
            'cells': cloud.cells,
            'hosts': sum(host_names.counts(cloud.hosts, cloud.cells)),
            'arrivals': found.count,
            'began_s': found.began_s,
            'ended_s': found.ended_s,
        }


def _content(path: str | None) -> bytes | None:
    """Return the content of a file, None without a path."""
    if path is None:
        return None
    with open(path, 'rb') as file:
        return file.read()


def merged(*each: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the options of several sources. A later source replaces values of an earlier one."""
    found: dict[str, dict[str, str]] = {}
    for options in each:
        for group, values in options.items():
            found.setdefault(group, {}).update(values)
    return found


def create(directory: str, plan: Plan) -> None:
    """Make the directory of a study. Raise Exists, NotMade."""
    try:
        if os.path.isdir(directory) and os.listdir(directory):
            raise Exists(directory=directory)
        os.makedirs(directory, exist_ok=True)
        write(os.path.join(directory, FILE), dataclasses.asdict(plan))
    except OSError as error:
        raise NotMade(directory=directory, reason=messages.cause(error)) from error
    # A study that is killed can be continued from its beginning.
    keep(directory, [])


def keep(
    directory: str,
    finished: Sequence[dict[str, typing.Any]],
    current: dict[str, typing.Any] | None = None,
) -> None:
    """Keep the progress of a study. finished: results of its finished runs

    current: state of the run that is interrupted, None if that run has to begin again
    """
    write(os.path.join(directory, PROGRESS), {'finished': finished, 'current': current})


def load(directory: str) -> tuple[Plan, dict[str, typing.Any]]:
    """Return (Plan, progress) of an interrupted study. Raise NotInterrupted, Spoiled."""
    paths = [os.path.join(directory, name) for name in (FILE, PROGRESS)]
    for path in paths:
        if not os.path.exists(path):
            raise NotInterrupted(directory=directory, path=path)
    asked, progress = map(_read, paths)
    try:
        return Plan(**asked), progress
    except TypeError as error:
        raise Spoiled(path=paths[0], reason='it is of another release') from error


def _read(path: str) -> dict[str, typing.Any]:
    try:
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
    except ValueError as error:
        raise Spoiled(path=path, reason='it is not JSON') from error
    if not isinstance(found, dict):
        raise Spoiled(path=path, reason='it is not an object of JSON')
    return found


def write(path: str, values: Mapping[str, typing.Any]) -> None:
    """Replace a file by values as JSON."""
    layout.write(path, json.dumps(values) + '\n')
