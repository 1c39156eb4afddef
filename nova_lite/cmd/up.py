"""nova-lite up: run a cloud, in this process or with a process for each daemon."""

import contextlib
import os
import signal
import sys

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite import service
from nova_lite.console import progress
from nova_lite.daemons import exposure
from nova_lite.daemons import leash
from nova_lite.daemons import process
from nova_lite.launcher import clocks
from nova_lite.launcher import layout
from nova_lite.launcher import make
from nova_lite.launcher import preflight
from nova_lite.launcher import proxies
from nova_lite.launcher import running
from nova_lite.launcher import state_dir
from nova_lite.wsgi import server


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser('up', help='start a cloud', description=__doc__)
    state_dir.add_option(parser)
    parser.add_argument(
        '--cells', type=int, default=2, metavar='N', help='number of cells (default: %(default)s)'
    )
    parser.add_argument(
        '--hosts',
        type=int,
        default=3,
        metavar='N',
        help='number of simulated hosts in each cell (default: %(default)s)',
    )
    parser.add_argument(
        '--port',
        type=int,
        default=8774,
        metavar='P',
        help='port of all services; 0 for any that is free (default: %(default)s)',
    )
    parser.add_argument(
        '--listen',
        default='127.0.0.1',
        metavar='ADDRESS',
        help='address to listen on (default: %(default)s)',
    )
    parser.add_argument(
        '--detach',
        action='store_true',
        help='return when the cloud is ready; `nova-lite stop` stops it',
    )
    parser.add_argument(
        '--until-exit',
        type=leash.process,
        metavar='PID',
        help='stop the cloud when this process ends, such as the job that uses it',
    )
    _add_servers(parser)
    _add_behaviour(parser)
    parser.set_defaults(run=run)


def _add_servers(parser):
    """Add the options that name servers of others."""
    parser.add_argument(
        '--bus',
        action='append',
        default=[],
        metavar='URL',
        help='RabbitMQ, as rabbit://user:password@host:port/virtual-host: one URL that contains '
        '{cell}, or one for the top and one for each cell. Without --bus all daemons run in '
        'this process',
    )
    parser.add_argument(
        '--db',
        metavar='URL',
        help='database server, as mysql+pymysql://user:password@host:port or '
        'postgresql+psycopg://user:password@host:port. Without --db SQLite files are used',
    )


def _add_behaviour(parser):
    """Add the options that change the behaviour of the cloud."""
    parser.add_argument(
        '--profile',
        default='default',
        metavar='NAME|FILE',
        help='behaviour of the simulated hosts (default: %(default)s)',
    )
    parser.add_argument(
        '--speed',
        type=float,
        default=1.0,
        metavar='X',
        help='factor by which simulated operations are faster (default: %(default)s)',
    )
    parser.add_argument(
        '--auth',
        choices=('keystone', 'noauth'),
        default='keystone',
        help='keystone checks tokens; noauth accepts identity headers without a check, for '
        'benchmarks only (default: %(default)s)',
    )
    parser.add_argument('--fresh', action='store_true', help='delete the former cloud in DIR first')
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='GROUP.OPTION=VALUE',
        help='configuration option for every daemon; may be repeated',
    )
    parser.add_argument('--debug', action='store_true', help='log at level DEBUG')


def settings_of(args):
    """Return the Settings from the command line. Raise ValueError."""
    options = {}
    for assignment in args.set:
        name, equals, value = assignment.partition('=')
        group, dot, option = name.rpartition('.')
        if not (equals and dot):
            raise ValueError(f'--set must be GROUP.OPTION=VALUE, not {assignment}')
        options.setdefault(group, {})[option] = value
    found = exposure.problem(args.auth, args.listen)
    if found is not None:
        raise ValueError(found)
    if args.debug:
        options.setdefault('DEFAULT', {})['debug'] = 'true'
    return layout.Settings(
        state_dir=args.state_dir,
        cells=args.cells,
        hosts=args.hosts,
        bus=tuple(args.bus),
        database=args.db,
        listen=args.listen,
        port=args.port or server.free_port(args.listen),
        auth=args.auth,
        profile=args.profile,
        speed=args.speed,
        options=options,
    )


def run(args):
    """Start the cloud, print how to use it, wait for Ctrl-C, stop it."""
    settings = settings_of(args)
    os.environ.update(proxies.exempt([settings.listen]))
    preflight.check(settings, conf_module.make_conf(files=[]))
    cloud = make.cloud(settings)
    cloud.places.hold()
    if args.detach:
        child = running.detach(cloud.places)
        if child:
            _await(cloud.places, child)
            return
    signals = service.Signals()
    if args.until_exit is not None:
        leash.follow(args.until_exit)
    preflight.check_port(settings)
    cloud.places.prepare(fresh=args.fresh)
    make.log_to_file(cloud.places.path('log', 'nova-lite.log'), args.debug)
    with _clock(cloud):
        _serve(cloud, args, signals)
    process.leave()


@contextlib.contextmanager
def _clock(cloud):
    """Use a clock that can be changed if all daemons are in this process."""
    if cloud.places.settings.bus:
        yield
        return
    with clocks.installed(cloud.places.root) as cloud.clock:
        yield


def _serve(cloud, args, signals):
    """Run the cloud until a signal asks for its end."""
    began = runtime.monotonic()
    try:
        _start(cloud, args.fresh)
        signals.starting = False
        ready = running.of(cloud.places)
        running.write(cloud.places.root, ready)
        print(f'\nReady after {runtime.monotonic() - began:.1f} s: {ready.compute_url}')
        _tell(ready, cloud.places.metadata_secret_path)
        print('\nCtrl-C stops the cloud. The next `nova-lite up` continues with the same servers.')
        sys.stdout.flush()
        while not signals.wait(None):
            if signals.reload():
                cloud.reload()
    except service.Stopped:
        signals.starting = False
    except BaseException:
        signals.starting = False
        cloud.stop()
        raise
    print('Stopping', flush=True)
    running.forget(cloud.places.root)
    cloud.stop()
    print('Stopped', flush=True)


def _start(cloud, fresh):
    settings = cloud.places.settings
    with progress.Steps(
        f'Starting {settings.cells} cells with {settings.hosts} hosts each in {cloud.places.root}'
    ) as steps:
        keep = {} if settings.bus else {'keep': True}
        cloud.start(fresh=fresh, progress=steps.begin, **keep)


def _await(places, child):
    """Wait until the cloud of a child process is ready, and print how to use it."""
    try:
        ready = running.wait_ready(places.root, child)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGTERM)
        raise
    print(f'Ready: {ready.compute_url}')
    _tell(ready, places.metadata_secret_path)
    print('\n`nova-lite stop` stops the cloud.')


def _tell(ready, secret_path):
    """Print how to use a cloud."""
    print(
        f"""
  export OS_CLIENT_CONFIG_FILE={ready.clouds_yaml}
  openstack --os-cloud nova-lite hypervisor list
  openstack --os-cloud nova-lite-demo server create --flavor m1.tiny --image cirros \\
      --network private --wait my-server

Metadata of servers: {ready.metadata_url}
Sign requests with the secret in {secret_path}"""
    )
