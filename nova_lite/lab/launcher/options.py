"""The settings of a cloud from the options of `nova-lite up`, and options from settings."""

import argparse
from collections.abc import Iterable
from collections.abc import Mapping
import shlex
import typing

from oslo_config import cfg

from nova_lite.daemons import exposure
from nova_lite.daemons.wsgi import server
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import given_options
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher.cloud_file import settings as file_settings

# The options, besides --set, that a cloud takes from a snapshot.
TAKEN = ('cells', 'hosts', 'profile', 'speed', 'auth')
# The options that belong to one start of a cloud, or to its machine.
OWN = ('listen', 'port', 'lab', 'drills', 'process_per_host', 'tuned_placement')
# What --bus-file and --db-file name.
A_FILE = 'a text file with one URL on each line'


def read(
    args: argparse.Namespace, described: file_settings.Described | None = None
) -> tuple[layout.Settings, cloud_snapshots.Snapshot | None]:
    """Return the settings of a cloud, and the snapshot that it continues with. Raise ValueError.

    described: the contents of the file of the cloud, or None
    """
    snapshot = None
    if args.json and not args.detach:
        raise ValueError('--json: a cloud in the foreground prints no JSON; use --detach')
    changed = given_options.parse([*args.set, *_shorter(args)])
    bus, database = _servers(args)
    given = {name: getattr(args, name) for name in TAKEN}
    chosen = {name: value for name, value in given.items() if value is not None}
    chosen['state_dir'] = args.state_dir
    if changed:
        chosen['options'] = changed
    if described is not None:
        chosen = file_settings.merged(described, chosen, has_bus=bool(bus))
    if args.snapshot is not None:
        if bus or database:
            raise ValueError('--from: a cloud with --bus or --db cannot continue with a snapshot')
        snapshot = cloud_snapshots.read(args.snapshot)
        chosen = continuing.settings_of(snapshot.manifest, args.state_dir, chosen)
    elif not args.fresh:
        begun = _begun(args.state_dir, described)
        chosen = shape.completed(args.state_dir, chosen, database, begun)
    conf = _checked(changed, chosen.get('options', {}), snapshot)
    auth = chosen.get('auth', layout.Settings.auth)
    exposure.require_safe({auth, conf.api.auth_strategy}, args.listen)
    _require_tokens(args.programs, {auth, conf.api.auth_strategy})
    try:
        port = args.port or server.free_port(args.listen)
    except OSError as error:
        raise ValueError(f'--listen: {args.listen}: {error.strerror}') from error
    settings = layout.Settings(
        bus=bus,
        database=database,
        listen=args.listen,
        port=port,
        lab=args.lab,
        drills=args.drills,
        process_per_host=args.process_per_host,
        tuned_placement=args.tuned_placement,
        programs=tuple(dict.fromkeys(args.programs)),
        **chosen,
    )
    _require_page(settings)
    return settings, snapshot


def _require_page(settings: layout.Settings) -> None:
    """Raise ValueError for switches of a live page that the cloud does not have."""
    if settings.lab and not layout.Layout(settings).has_page:
        raise ValueError(
            '--lab: a cloud that listens on another address than one of loopback has no live page. '
            'Omit --lab or --listen'
        )


def _require_tokens(programs: Iterable[str], auth_strategies: Iterable[str]) -> None:
    """Raise ValueError for Horizon beside services that do not read its tokens."""
    if layout.HORIZON in programs and exposure.NOAUTH in auth_strategies:
        raise ValueError(
            '--with horizon: Horizon sends tokens, which a cloud with noauth does not read. Give '
            '--auth keystone without --set api.auth_strategy=noauth, or omit --with horizon'
        )


def _shorter(args: argparse.Namespace) -> list[str]:
    """Return the values of --set that other options of the command stand for."""
    found = ['DEFAULT.debug=true'] * args.debug
    return found + ([f'conductor.failures={args.failures}'] if args.failures else [])


def _checked(
    changed: layout.GivenOptions,
    options: layout.GivenOptions,
    snapshot: cloud_snapshots.Snapshot | None,
) -> cfg.ConfigOpts:
    """Return the configuration with options. Raise ValueError, which names the wrong option.

    changed: options of the command; options: options of the command and of the snapshot
    """
    given_options.check(changed)
    try:
        return given_options.check(options)
    except ValueError as error:
        if snapshot is None:
            raise
        raise ValueError(
            f'--from: the snapshot {snapshot.path} was made by nova-lite {snapshot.manifest.release} '
            f'with an option that does not fit this release: {error}'
        ) from error


def _begun(
    directory: str, described: file_settings.Described | None
) -> dict[str, typing.Any] | None:
    """Return the settings of an interrupted `up --from`, or None. Raise ValueError with -f."""
    begun = continuing.begun(directory)
    if begun is not None and described is not None:
        raise ValueError(
            f'-f: `up --from` was interrupted in {directory}, and its snapshot has the objects of that '
            'cloud. Omit -f to continue with the snapshot, or add --fresh to delete it'
        )
    return begun


def words(values: Mapping[str, typing.Any], *, always: Iterable[str] = ()) -> str:
    """Return the options of `nova-lite up` for settings, as words of a shell.

    values: {name: value} as in layout.Settings
    always: names of settings whose options are returned even if they have the default values
    """
    found = []
    for name in TAKEN:
        value = cloud_snapshots.PROFILE if values[name] is None else values[name]
        if name in always or value != getattr(layout.Settings, name):
            found += [f'--{name}', written(value)]
    for group, given in values['options'].items():
        for option, value in given.items():
            found += ['--set', f'{group}.{option}={value}']
    return shlex.join(found)


def own_words(settings: layout.Settings) -> str:
    """Return the options of `nova-lite up` that neither a snapshot nor a file has, as `words`."""
    found = []
    for name in OWN:
        value = getattr(settings, name)
        if value != getattr(layout.Settings, name):
            option = f'--{name.replace("_", "-")}'
            found += [option] if value is True else [option, written(value)]
    found += [word for program in settings.programs for word in ('--with', program)]
    return shlex.join(found)


def written(value: object) -> str:
    """Return the value of an option as users write it."""
    if isinstance(value, list | tuple):
        return ','.join(map(str, value))
    return f'{value:g}' if isinstance(value, float) else str(value)


def _servers(args: argparse.Namespace) -> tuple[tuple[str, ...], str | None]:
    """Return (URLs of buses, URL of the database server or None). Raise ValueError."""
    bus, databases = args.bus, [args.db] if args.db else []
    if args.bus_file is not None:
        if bus:
            raise ValueError('--bus-file: the URLs are given with --bus already')
        bus = _lines(args.bus_file, '--bus-file')
    if args.db_file is not None:
        databases += _lines(args.db_file, '--db-file')
        if len(databases) > 1:
            raise ValueError('--db-file: there is one database server, also given with --db')
    return tuple(bus), databases[0] if databases else None


def _lines(path: str, option: str) -> list[str]:
    """Return the lines of a file that are neither empty nor comments. Raise ValueError."""
    try:
        with open(path) as file:
            found = [line.strip() for line in file]
    except (OSError, UnicodeError) as error:
        raise ValueError(
            f'{option}: {path} cannot be read: {messages.cause(error)}. Name {A_FILE}'
        ) from error
    found = [line for line in found if line and not line.startswith('#')]
    if not found:
        raise ValueError(f'{option}: {path} has no URL. Name {A_FILE}')
    return found
