"""Layout: where the files, buses and databases of a cloud lie, and its configuration.

The embedded mode and the one with a process per daemon read the same files.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import re
import shutil

import sqlalchemy as sa
import yaml

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import exposure
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import lock as lock_module
from nova_lite.lab.launcher import state_dir
from nova_lite.rpc import transport
from nova_lite.wsgi import server

PREFIXES = ('/compute', '/placement', '/identity', '/image', '/network', '/volume', '/share')
TOP = 'top'
SECRETS, METADATA_SECRET = 'secrets.json', 'metadata-secret'
USERS = ('admin', 'demo', 'service')
# Who asks for the holder of the lock shares it for a moment, so it is tried again.
PEEK_S, PEEKS = 0.02, 10
# What a cloud prints that has no terminal.
OUTPUT = 'up.out'
# {daemon: URL of its /healthcheck and /metrics}
HEALTH = os.path.join('run', 'health.json')
API, PLACEMENT, SIMCLOUD, CELL0 = 'api', 'placement', 'simcloud', 'cell0'
# Text without control characters. A line break would begin another line of a configuration file.
LINE = re.compile(r'[^\x00-\x1f\x7f-\x9f\u2028\u2029]*')
# By nova's default no role may move servers between cells; in a cloud for tests some may.
POLICY = {'compute:servers:resize:cross_cell': 'rule:context_is_admin'}


class InUse(exception.Conflict):
    msg = (
        'The state directory %(directory)s is in use by process %(pid)s; '
        'stop that one with `%(stop)s`, or choose another directory'
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `nova-lite up`.

    hosts: of each cell; a tuple with a number for each cell if these differ
    bus: () for the embedded one; one URL with {cell} in it, or one for the top and
        one per cell
    shared_cidr: of a network that all projects share in an embedded cloud, None for none
    lab: whether the live page has switches for faults
    tuned_placement: whether functions of placement are replaced by faster ones; SQLite only
    database: None for SQLite; else the SQLAlchemy URL of a server, without a database
    """

    state_dir: str
    cells: int = 2
    hosts: int | tuple = 3
    bus: tuple = ()
    database: str | None = None
    listen: str = '127.0.0.1'
    port: int = 8774
    auth: str = 'keystone'
    profile: str = 'default'
    speed: float = 1.0
    shared_cidr: str | None = None
    lab: bool = False
    tuned_placement: bool = False
    options: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        counts = host_counts(self.hosts, self.cells)
        hosts = counts[0] if len(set(counts)) == 1 else counts
        object.__setattr__(self, 'hosts', hosts)
        if self.tuned_placement and (self.bus or self.database):
            raise ValueError('--tuned-placement: a cloud with --bus or --db has the real placement')
        if len(self.bus) == 1 and '{cell}' not in self.bus[0]:
            raise ValueError(
                'a single --bus URL must have {cell} in it, for example as its '
                'virtual host; else give one for the top and one per cell'
            )
        if len(self.bus) > 1 and len(self.bus) != self.cells + 1:
            raise ValueError(
                f'{self.cells} cells need {self.cells + 1} --bus URLs, the '
                f'first for the top; there are {len(self.bus)}'
            )


def host_counts(hosts, cells):
    """Return a tuple with the number of hosts of each cell. hosts: as in Settings, or a list"""
    if isinstance(hosts, int):
        return (hosts,) * max(cells, 1)
    if len(hosts) != cells:
        raise ValueError(
            f'--hosts has {len(hosts)} numbers for {cells} cells; give one for each cell'
        )
    return tuple(hosts)


def options_of(assignments):
    """Return {group: {option: value}} of texts like GROUP.OPTION=VALUE. Raise ValueError."""
    options = {}
    for assignment in assignments:
        name, equals, value = assignment.partition('=')
        group, dot, option = name.rpartition('.')
        if not (equals and dot):
            raise ValueError(f'--set must be GROUP.OPTION=VALUE, not {assignment}')
        if not LINE.fullmatch(assignment):
            raise ValueError(f'--set {name!r} has a line break or another control character')
        options.setdefault(group, {})[option] = value
    return options


class Layout:
    """Names and files that follow from the settings.

    urls: {'placement': URL, 'simcloud': URL} inside the cloud, once they listen
    lab_secret: what the switches of the live page need, None for a cloud without them
    page_origin: URL of the server of the live page, None without one; that of a cloud with a
        process for each daemon has a port of its own, which is known once it listens
    """

    def __init__(self, settings):
        self.settings = settings
        self.root = os.path.abspath(settings.state_dir)
        self.cell_names = [f'cell{number + 1}' for number in range(settings.cells)]
        self.tag = hashlib.sha256(self.root.encode()).hexdigest()[:8]
        self.secrets = {}
        self.metadata_secret = None
        self.lab_secret = runtime.new_secret() if settings.lab else None
        self.page_origin = self.public_url if self.has_page and not settings.bus else None
        self._lock = None
        self._ours = False

    # ---- places ----

    def path(self, *parts):
        """Return a path below the state directory; its directory is made."""
        found = os.path.join(self.root, *parts)
        os.makedirs(os.path.dirname(found), mode=0o700, exist_ok=True)
        return found

    def bus_url(self, name):
        """Return the bus of `top` or of a cell."""
        bus = self.settings.bus
        if not bus:
            return f'{transport.EMBEDDED}{self.tag}-{name}'
        if len(bus) == 1:
            return bus[0].replace('{cell}', name)
        return bus[[TOP, *self.cell_names].index(name)]

    def database_url(self, name):
        """Return the database called `name`."""
        if self.settings.database is None or name == SIMCLOUD:
            return f'sqlite:///{self.path("db", name + ".sqlite")}'
        server = sa.make_url(self.settings.database)
        return server.set(database=self.database_name(name)).render_as_string(hide_password=False)

    def cell_urls(self, name):
        """Return where the bus and the database of a cell are, as in its mapping."""
        bus = transport.NO_BUS if name == CELL0 else self.bus_url(name)
        return {'transport_url': bus, 'database_connection': self.database_url(name)}

    def database_name(self, name):
        """Return what the database called `name` is called on a server."""
        return f'nova_lite_{self.tag}_{name}'

    def hosts(self, cell):
        """Return names of a cell's hosts."""
        counts = host_counts(self.settings.hosts, self.settings.cells)
        count = counts[self.cell_names.index(cell)]
        return [f'{cell}-host{number + 1}' for number in range(count)]

    def guests_path(self, cell):
        """Return where a cell's compute process keeps its simulated guests."""
        return self.path('guests', cell, 'guests.sqlite')

    @property
    def public_url(self):
        """Return the URL at which clients of this machine reach all services."""
        host = exposure.ANY_ADDRESS.get(self.settings.listen, self.settings.listen)
        return f'http://{server.authority(host, self.settings.port)}'

    @property
    def is_everywhere(self):
        """Return whether the cloud listens on all addresses, of which clients name one."""
        return self.settings.listen in exposure.ANY_ADDRESS

    @property
    def has_page(self):
        """Return whether there is a live page. It shows all projects and requires no password."""
        return exposure.is_loopback(self.settings.listen)

    @property
    def page_url(self):
        """Return the URL of the live page, None without one.

        The part after # has the secret of its switches; browsers do not send it.
        """
        if self.page_origin is None:
            return None
        return f'{self.page_origin}/' + (f'#{self.lab_secret}' if self.lab_secret else '')

    @property
    def metadata_url(self):
        return f'{self.public_url}/metadata'

    # ---- files ----

    def prepare(self, *, fresh=False):
        """Make the state directory ours, and secrets when there are none.

        fresh: forget what was there. Raises InUse while another process has it, Spoiled for
        files that cannot be used.
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

    def _check_databases(self):
        """Raise Spoiled for a SQLite file that cannot be one of the cloud."""
        names = (API, CELL0, PLACEMENT, SIMCLOUD, *self.cell_names)
        paths = [self.path('db', f'{name}.sqlite') for name in names]
        for path in (*paths, *map(self.guests_path, self.cell_names)):
            kept_files.require_database(self.root, path)

    def clear(self, keep=()):
        """Delete all files in the state directory but those of this process and those to keep."""
        for name in set(os.listdir(self.root)) - {lock_module.LOCK, OUTPUT, *keep}:
            path = os.path.join(self.root, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    @property
    def policy_path(self):
        """Return the policy file, which is the operator's once it is made."""
        return self.path('etc', 'policy.yaml')

    def _write_policy(self):
        if not os.path.exists(self.policy_path):
            write(self.policy_path, yaml.safe_dump(POLICY))

    @property
    def metadata_secret_path(self):
        """Return the file of the secret that signs requests to the metadata service."""
        return self.path(METADATA_SECRET)

    def _kept_metadata_secret(self):
        if not os.path.exists(self.metadata_secret_path):
            write(self.metadata_secret_path, runtime.new_secret())
        return kept_files.text(self.root, self.metadata_secret_path)

    def hold(self):
        """Keep other processes out of the state directory; raises InUse, Unavailable."""
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
        # A process that was killed may have left it, and have had the id of this one.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.root, lock_module.READY))
        self._lock = lock
        self.sign()

    def sign(self):
        """Record this process as the holder of the lock: it took it, or was forked since."""
        try:
            self._lock.truncate(0)
            self._lock.write(f'{os.getpid()}\n')
            self._lock.flush()
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {self.root}', reason=error.strerror
            ) from error

    def release(self):
        """Release the lock of the state directory, unless a forked process holds it as well."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            self._ours = False

    @property
    def clouds_path(self):
        """Return the file clouds.yaml."""
        return self.path('clouds.yaml')

    def write_health(self, urls):
        """Write run/health.json: {daemon: URL of its /healthcheck and /metrics}.

        Of several workers the second is DAEMON.2.
        """
        write(self.path(HEALTH), json.dumps(urls, indent=2) + '\n')

    def write_config(self, name, sections, *, alone=False):
        """Write etc/NAME.conf from {section: {option: value}}; returns its path.

        alone: without the options that `up` was given for all daemons
        """
        given = {} if alone else self.settings.options
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


def _locked(file):
    """Lock a file; return whether no other process keeps the lock."""
    for pause_s in (0, *(PEEK_S,) * PEEKS):
        runtime.sleep(pause_s)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _value(value):
    if isinstance(value, list | tuple):
        return ','.join(str(item) for item in value)
    return str(value).replace('$', '$$')


def write(path, text):
    """Replace a file that only its owner may read."""
    draft = f'{path}.new'
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w') as file:
        file.write(text)
    os.replace(draft, path)
