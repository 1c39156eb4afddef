"""The layout of a cloud: the places of its files, buses and databases, and its configuration.

A cloud in one process and a cloud with a process for each daemon read the same files.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import typing

import sqlalchemy as sa
import yaml

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import exposure
from nova_lite.daemons.wsgi import server
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import lock as lock_module
from nova_lite.lab.launcher import state_dir
from nova_lite.rpc import transport
from nova_lite.terminal import plurals
from nova_lite.virt.sim import profile

TOP = 'top'
SECRETS, METADATA_SECRET = 'secrets.json', 'metadata-secret'
USERS = ('admin', 'demo', 'service')
# `lock.holder` shares the lock for a moment, so a failure to take it is repeated.
PEEK_S, PEEKS = 0.02, 10
# The output of a cloud without a terminal.
OUTPUT = 'up.out'
# The directory of Horizon, which survives --fresh, and the name of its process.
HORIZON = 'horizon'
# {daemon: URL of its /healthcheck and /metrics}
HEALTH = os.path.join('run', 'health.json')
API, PLACEMENT, SIMCLOUD, CELL0 = 'api', 'placement', 'simcloud', 'cell0'
# Text without control characters. A line break would begin a new line of a configuration file.
LINE = re.compile(r'[^\x00-\x1f\x7f-\x9f\u2028\u2029]*')
# Unlike in nova, administrators may move servers between cells by default.
POLICY = {'compute:servers:resize:cross_cell': 'rule:context_is_admin'}

# {name of an option: value}
Options: typing.TypeAlias = dict[str, typing.Any]
GivenOptions: typing.TypeAlias = Mapping[str, Mapping[str, typing.Any]]


class InUse(exception.Conflict):
    msg = (
        'The state directory %(directory)s is in use by process %(pid)s; '
        'stop this process with `%(stop)s`, or choose another directory'
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `nova-lite up`.

    hosts: number of hosts of each cell; a tuple with one number for each cell if they differ
    bus: () for buses in the process of the cloud; otherwise one URL with {cell} in it, or one URL
        for the top and one for each cell
    database: SQLAlchemy URL of a server, without the name of a database; None for SQLite files
    shared_cidr: addresses of a network that all projects of an embedded cloud share, or None
    lab: whether the live page has switches for faults
    drills: whether the connections of a cloud with buses of servers pass through relays, which can
        be cut
    process_per_host: whether each host of a cloud with buses of servers has a separate compute
        process, instead of one for all hosts of a cell
    tuned_placement: whether faster functions replace those of placement; only with SQLite
    programs: other programs that run beside the cloud: HORIZON
    options: {group: {option: value}} for the configuration of all daemons
    """

    state_dir: str
    cells: int = 2
    hosts: int | tuple[int, ...] = 3
    bus: tuple[str, ...] = ()
    database: str | None = None
    listen: str = '127.0.0.1'
    port: int = 8774
    auth: str = 'keystone'
    profile: str = 'default'
    speed: float = 1.0
    shared_cidr: str | None = None
    lab: bool = False
    drills: bool = False
    process_per_host: bool = False
    tuned_placement: bool = False
    programs: tuple[str, ...] = ()
    options: GivenOptions = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.drills and not self.bus:
            raise ValueError(
                '--drills: a cloud without --bus has all faults already. Omit --drills'
            )
        if self.process_per_host and not self.bus:
            raise ValueError(
                '--process-per-host: a cloud without --bus is one process. Give --bus, or omit '
                '--process-per-host'
            )
        counts = host_names.counts(self.hosts, self.cells)
        hosts = counts[0] if len(set(counts)) == 1 else counts
        object.__setattr__(self, 'hosts', hosts)
        if self.tuned_placement and (self.bus or self.database):
            raise ValueError('--tuned-placement needs a cloud without --bus and --db. Omit it')
        if len(self.bus) == 1 and '{cell}' not in self.bus[0]:
            raise ValueError(
                'a single --bus URL must have {cell} in it, for example as its '
                'virtual host; else give one for the top and one per cell'
            )
        if len(self.bus) > 1 and len(self.bus) != self.cells + 1:
            raise ValueError(
                f'{plurals.of(self.cells, "cell")} {"needs" if self.cells == 1 else "need"} {self.cells + 1} --bus URLs, the '
                f'first for the top; there are {len(self.bus)}. Give one for each, or a single one '
                'with {cell}'
            )


class Layout:
    """The names and files of a cloud, derived from its settings.

    tag: unique name of the state directory, in names of buses and of databases on a server
    secrets: {name: password} of the users, after `prepare`
    relayed: {(faults' name of a part, name of the top or of a cell): URL through a relay}
    lab_secret: secret that the switches of the live page need; None without switches
    page_origin: URL of the server of the live page; None without a page, and in a cloud with a
        process for each daemon until the server listens on its separate port
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = os.path.abspath(settings.state_dir)
        self.cell_names = [host_names.cell_name(number + 1) for number in range(settings.cells)]
        self.tag = hashlib.sha256(self.root.encode()).hexdigest()[:8]
        self.secrets: dict[str, str] = {}
        self.relayed: dict[tuple[str, str], str] = {}
        self.metadata_secret: str | None = None
        self.lab_secret = runtime.new_secret() if settings.lab else None
        self.page_origin = self.public_url if self.has_page and not settings.bus else None
        self.horizon_url: str | None = None
        self._lock: typing.TextIO | None = None
        self._ours = False

    # ---- places ----

    def path(self, *parts: str) -> str:
        """Return a path below the state directory. Create its directory."""
        found = os.path.join(self.root, *parts)
        os.makedirs(os.path.dirname(found), mode=0o700, exist_ok=True)
        return found

    def bus_url(self, name: str) -> str:
        """Return the URL of the bus of `top` or of a cell."""
        if ('bus', name) in self.relayed:
            return self.relayed['bus', name]
        bus = self.settings.bus
        if not bus:
            return f'{transport.EMBEDDED}{self.tag}-{name}'
        if len(bus) == 1:
            return bus[0].replace('{cell}', name)
        return bus[[TOP, *self.cell_names].index(name)]

    def database_url(self, name: str) -> str:
        """Return the SQLAlchemy URL of the database called `name`."""
        if ('database', name) in self.relayed:
            return self.relayed['database', name]
        if self.settings.database is None or name == SIMCLOUD:
            return f'sqlite:///{self.path("db", name + ".sqlite")}'
        server = sa.make_url(self.settings.database)
        return server.set(database=self.database_name(name)).render_as_string(hide_password=False)

    def cell_urls(self, name: str) -> dict[str, str]:
        """Return the URLs of the bus and the database of a cell, as in the cell mapping."""
        bus = transport.NO_BUS if name == CELL0 else self.bus_url(name)
        return {'transport_url': bus, 'database_connection': self.database_url(name)}

    def database_name(self, name: str) -> str:
        """Return the name that the database called `name` has on a server."""
        return f'nova_lite_{self.tag}_{name}'

    def hosts(self, cell: str) -> list[str]:
        """Return the names of the hosts of a cell."""
        counts = host_names.counts(self.settings.hosts, self.settings.cells)
        return host_names.of_cell(
            cell, counts[self.cell_names.index(cell)], self._named_hosts.get(cell, ())
        )

    @functools.cached_property
    def _named_hosts(self) -> Mapping[str, Sequence[str]]:
        """Return the names in the profile. Daemons read them once, as well."""
        return profile.load(self.settings.profile).names

    def guests_path(self, cell: str) -> str:
        """Return the path of the file with the simulated guests of a cell."""
        return self.path('guests', cell, 'guests.sqlite')

    def failures_path(self, cell: str) -> str:
        """Return the path of the file with the injected failures of the hosts of a cell."""
        return self.path('guests', cell, 'failures.json')

    @property
    def public_url(self) -> str:
        """Return the URL at which clients of this machine reach all services."""
        host = exposure.ANY_ADDRESS.get(self.settings.listen, self.settings.listen)
        return f'http://{server.authority(host, self.settings.port)}'

    @property
    def is_everywhere(self) -> bool:
        """Return whether the cloud listens on all addresses of the machine."""
        return self.settings.listen in exposure.ANY_ADDRESS

    @property
    def has_page(self) -> bool:
        """Return whether there is a live page, which shows all projects without a password."""
        return exposure.is_loopback(self.settings.listen)

    @property
    def page_url(self) -> str | None:
        """Return the URL of the live page, or None.

        The part after # is the secret of its switches; browsers do not send this part.
        """
        if self.page_origin is None:
            return None
        return f'{self.page_origin}/' + (f'#{self.lab_secret}' if self.lab_secret else '')

    @property
    def metadata_url(self) -> str:
        return f'{self.public_url}/metadata'

    # ---- files ----

    def prepare(self, *, fresh: bool = False) -> None:
        """Lock the state directory, and read its secrets or create them.

        fresh: delete the files of a former cloud first
        Raise InUse if another process runs the cloud, Spoiled for files that cannot be used.
        """
        self.hold()
        if fresh and not self._ours:
            self.clear()
        self._ours = True
        self._write_policy()
        self.metadata_secret = self._kept_metadata_secret()
        self._check_databases()
        path, names = self.path(SECRETS), [f'{name}_password' for name in USERS]
        if os.path.exists(path):
            self.secrets = kept_files.values(self.root, path, names)
            return
        self.secrets = {name: runtime.new_secret() for name in names}
        write(path, json.dumps(self.secrets))

    def _check_databases(self) -> None:
        """Raise Spoiled if a SQLite file of the cloud cannot be used."""
        names = (API, CELL0, PLACEMENT, SIMCLOUD, *self.cell_names)
        paths = [self.path('db', f'{name}.sqlite') for name in names]
        for path in (*paths, *map(self.guests_path, self.cell_names)):
            kept_files.require_database(self.root, path)

    def clear(self, keep: Iterable[str] = ()) -> None:
        """Delete all files in the state directory, except those of this process and `keep`."""
        for name in set(os.listdir(self.root)) - {lock_module.LOCK, OUTPUT, HORIZON, *keep}:
            path = os.path.join(self.root, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    @property
    def policy_path(self) -> str:
        """Return the path of the policy file. Once it exists, only the operator changes it."""
        return self.path('etc', 'policy.yaml')

    def _write_policy(self) -> None:
        if not os.path.exists(self.policy_path):
            write(self.policy_path, yaml.safe_dump(POLICY))

    @property
    def metadata_secret_path(self) -> str:
        """Return the path of the file with the secret that signs requests for metadata."""
        return self.path(METADATA_SECRET)

    def _kept_metadata_secret(self) -> str:
        if not os.path.exists(self.metadata_secret_path):
            write(self.metadata_secret_path, runtime.new_secret())
        return kept_files.text(self.root, self.metadata_secret_path)

    def hold(self) -> None:
        """Take the lock of the state directory. Raise InUse, Unavailable."""
        if self._lock is not None:
            return
        try:
            lock = open(self.path(lock_module.LOCK), 'a+')  # noqa: SIM115 - held until `release`
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {self.root}',
                reason=f'{error.strerror}; choose another with --state-dir',
            ) from error
        if not _locked(lock):
            lock.seek(0)
            holder = lock.read().strip() or 'unknown'
            lock.close()
            stop = state_dir.command('stop', self.root)
            raise InUse(directory=self.root, pid=holder, stop=stop)
        # A killed process, which may have had the id of this process, may have left the file.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.root, lock_module.READY))
        self._lock = lock
        self.sign()

    def sign(self) -> None:
        """Record this process, which has taken or inherited the lock, as its holder."""
        if self._lock is None:
            return
        try:
            self._lock.truncate(0)
            self._lock.write(f'{os.getpid()}\n')
            self._lock.flush()
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {self.root}', reason=error.strerror
            ) from error

    def release(self) -> None:
        """Release the lock of the state directory, unless a forked process has inherited it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            self._ours = False

    @property
    def clouds_path(self) -> str:
        """Return the path of clouds.yaml."""
        return self.path('clouds.yaml')

    def write_health(self, urls: Mapping[str, str]) -> None:
        """Write run/health.json with the URLs of /healthcheck and /metrics.

        urls: {daemon: URL}, where DAEMON.2 is the second worker of a daemon
        """
        write(self.path(HEALTH), json.dumps(urls, indent=2) + '\n')

    def write_config(
        self, name: str, sections: Mapping[str, Mapping[str, object]], *, alone: bool = False
    ) -> str:
        """Write etc/NAME.conf from {section: {option: value}}. Return its path.

        alone: leave out the options that `up` was given for all daemons
        """
        given: GivenOptions = {} if alone else self.settings.options
        lines = []
        for section, options in sections.items():
            extra = given.get(section, {})
            lines.append(f'[{section}]')
            lines.extend(
                f'{key} = {_value(value)}'
                for key, value in {**options, **extra}.items()
                if value is not None
            )
            lines.append('')
        for section, options in given.items():
            if section not in sections:
                lines.append(f'[{section}]')
                lines.extend(f'{key} = {_value(value)}' for key, value in options.items())
        path = self.path('etc', f'{name}.conf')
        write(path, '\n'.join(lines) + '\n')
        return path


def _locked(file: typing.TextIO) -> bool:
    """Lock a file. Return False if another process keeps the lock."""
    for pause_s in (0, *(PEEK_S,) * PEEKS):
        runtime.sleep(pause_s)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ','.join(str(item) for item in value)
    return str(value).replace('$', '$$')


def write(path: str, text: str) -> None:
    """Write a file that only its owner may read, or replace it at once."""
    draft = f'{path}.new'
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w') as file:
        file.write(text)
    os.replace(draft, path)
