"""The settings of a cloud, from the options of `nova-lite up`, and the options for settings."""

import shlex

from nova_lite.daemons import exposure
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import given_options
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher.cloud_file import settings as file_settings
from nova_lite.wsgi import server

# The options that a cloud takes from a snapshot, beside --set.
TAKEN = ('cells', 'hosts', 'profile', 'speed', 'auth')


def read(args, described=None):
    """Return (Settings, cloud_snapshots.Snapshot or None) of the arguments. Raise ValueError.

    described: the cloud_file.settings.Described of a file, None without one
    """
    snapshot = None
    if args.json and not args.detach:
        raise ValueError('--json: a cloud in the foreground prints no JSON; use --detach')
    changed = layout.options_of([*args.set, *['DEFAULT.debug=true'] * args.debug])
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
        chosen = shape.completed(args.state_dir, chosen, database)
    given = _checked(changed, chosen.get('options', {}), snapshot)
    auth = chosen.get('auth', layout.Settings.auth)
    exposure.require_safe({auth, given.api.auth_strategy}, args.listen)
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
        tuned_placement=args.tuned_placement,
        **chosen,
    )
    if settings.lab and settings.bus:
        raise ValueError('--lab: no faults are injected into a cloud with --bus')
    if settings.lab and not layout.Layout(settings).has_page:
        raise ValueError(
            '--lab: a cloud that listens on another address than one of loopback has no live page'
        )
    return settings, snapshot


def _checked(changed, options, snapshot):
    """Return the configuration with these options. Raise ValueError with the one to blame.

    changed: those of the command; options: these and those of the snapshot
    """
    given_options.check(changed)
    try:
        return given_options.check(options)
    except ValueError as error:
        raise ValueError(
            f'--from: the snapshot {snapshot.path} was made by nova-lite {snapshot.manifest.release} '
            f'with an option that does not fit this release: {error}'
        ) from error


def words(values, *, always=()):
    """Return the options of `nova-lite up` that differ from its defaults, as words of a shell.

    values: {name: value} as in layout.Settings; always: names whose options are given in any case
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


def written(value):
    """Return a value of an option as users write it."""
    if isinstance(value, list | tuple):
        return ','.join(map(str, value))
    return f'{value:g}' if isinstance(value, float) else str(value)


def _servers(args):
    """Return (URLs of buses, URL of the database server or None) of options and their files."""
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


def _lines(path, option):
    """Return the lines of a file that are neither empty nor comments. Raise ValueError."""
    try:
        with open(path) as file:
            found = [line.strip() for line in file]
    except (OSError, UnicodeError) as error:
        raise ValueError(f'{option}: {path} cannot be read: {messages.cause(error)}') from error
    found = [line for line in found if line and not line.startswith('#')]
    if not found:
        raise ValueError(f'{option}: {path} has no URL')
    return found
