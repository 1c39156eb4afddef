"""The settings of a cloud, from the options of `nova-lite up`."""

from nova_lite.daemons import exposure
from nova_lite.launcher import layout
from nova_lite.launcher import snapshots
from nova_lite.wsgi import server


def read(args):
    """Return (Settings, snapshots.Snapshot or None) of the arguments. Raise ValueError."""
    snapshot = None
    changed = layout.options_of([*args.set, *['DEFAULT.debug=true'] * args.debug])
    given = {name: getattr(args, name) for name in ('cells', 'hosts', 'profile', 'speed', 'auth')}
    chosen = {name: value for name, value in given.items() if value is not None}
    chosen['state_dir'] = args.state_dir
    if changed:
        chosen['options'] = changed
    if args.snapshot is not None:
        if args.bus or args.db:
            raise ValueError('--from: a cloud with --bus or --db cannot continue with a snapshot')
        snapshot = snapshots.read(args.snapshot)
        chosen = snapshots.settings_of(snapshot.manifest, args.state_dir, chosen)
    found = exposure.problem(chosen.get('auth', layout.Settings.auth), args.listen)
    if found is not None:
        raise ValueError(found)
    try:
        port = args.port or server.free_port(args.listen)
    except OSError as error:
        raise ValueError(f'--listen: {args.listen}: {error.strerror}') from error
    settings = layout.Settings(
        bus=tuple(args.bus),
        database=args.db,
        listen=args.listen,
        port=port,
        lab=args.lab,
        **chosen,
    )
    if settings.lab and layout.Layout(settings).page_url is None:
        raise ValueError(
            '--lab: there is no live page in a cloud with --bus, or that listens on another '
            'address than one of loopback'
        )
    return settings
