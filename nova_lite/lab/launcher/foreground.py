"""The process of `nova-lite up`: a cloud from its start to the signal that ends it."""

from collections.abc import Iterator
import contextlib
import dataclasses
import json
import os
import shlex
import signal
import sys

from oslo_utils import strutils

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.daemons import leash
from nova_lite.daemons import lifetime
from nova_lite.daemons import process
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import continuing
from nova_lite.lab.launcher import known_clouds
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import make
from nova_lite.lab.launcher import malloc
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher import preflight
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher.cloud_file import settings as file_settings
from nova_lite.lab.launcher.cloud_file import starting
from nova_lite.lab.launcher.horizon import joined
from nova_lite.terminal import plurals
from nova_lite.terminal import progress_display
from nova_lite.virt.sim import profile

# Seconds between returns of free memory to the system, which take 5 ms of processor time.
TRIM_S = 60


def run(
    settings: layout.Settings,
    *,
    fresh: bool = False,
    detach: bool = False,
    until_exit: int | None = None,
    snapshot: cloud_snapshots.Snapshot | None = None,
    described: file_settings.Described | None = None,
) -> running.Running:
    """Start a cloud, print how to use it, wait for a signal, stop the cloud, and exit.

    fresh: delete the former cloud first
    detach: print nothing, and return the services as soon as a child process runs the cloud
    until_exit: descriptor of a process; stop the cloud when the process ends
    snapshot: the snapshot that a new cloud continues with
    described: the contents of the file of the cloud, or None
    """
    os.environ.update(proxies.exempt([settings.listen]))
    preflight.check(settings, conf_module.make_conf(files=[]))
    cloud: make.Cloud = make.cloud(settings)
    files = [] if snapshot is None else [snapshot.path]
    files += [] if described is None else [described.document.path]
    is_written = snapshot is not None or (described is not None and described.profile is not None)
    if not (is_written and continuing.brings_profile(cloud.places)):
        preflight.check_profile(settings)
        files += {settings.profile}.difference(profile.bundled())
    if fresh:
        for path in files:
            preflight.check_outside(path, cloud.places.root)
        preflight.check_own(cloud.places.root)
    cloud.places.hold()
    cloud = joined.with_programs(cloud)
    known_clouds.record(cloud.places.root)
    if detach:
        child = running.detach(cloud.places)
        if child:
            return _await(cloud.places, child)
    signals = lifetime.Signals()
    if until_exit is not None:
        leash.follow(until_exit)
    preflight.check_port(settings)
    continuing.resume(snapshot, cloud.places, fresh=fresh)
    cloud.places.prepare(fresh=fresh and snapshot is None)
    shape.write(cloud.places)
    starting.prepare(cloud.places, described)
    _log_to_file(cloud.places)
    malloc.limit_arenas()
    with _clock(cloud):
        _serve(cloud, fresh, signals, snapshot=snapshot, described=described)
    process.leave()


def _log_to_file(places: layout.Layout) -> None:
    options = places.settings.options.get('DEFAULT', {})
    debug = strutils.bool_from_string(options.get('debug'))
    make.log_to_file(places.path('log', 'nova-lite.log'), debug)


@contextlib.contextmanager
def _clock(cloud: make.Cloud) -> Iterator[None]:
    """Use a clock that can be changed, if all daemons are in this process."""
    if cloud.places.settings.bus:
        yield
        return
    with clocks.installed(cloud.places.root) as cloud.clock:
        yield


def _serve(
    cloud: make.Cloud,
    fresh: bool,
    signals: lifetime.Signals,
    *,
    snapshot: cloud_snapshots.Snapshot | None,
    described: file_settings.Described | None,
) -> None:
    """Run the cloud until a signal requests its end. snapshot, described: see `run`"""
    began = runtime.monotonic()
    try:
        _start(cloud, fresh, described)
        signals.starting = False
        ready = running.of(cloud.places)
        running.write(cloud.places.root, ready)
        print(f'\nReady after {runtime.monotonic() - began:.1f} s: {ready.compute_url}')
        print(usage(ready, cloud.places, described))
        again = next_start(cloud.places, described)
        print(f'{continued(snapshot)}\nCtrl-C stops the cloud. {again}')
        sys.stdout.flush()
        while not signals.wait(TRIM_S):
            malloc.trim()
            if signals.reload():
                errors = cloud.reload()
                for error in errors:
                    _say(f'Cannot apply part of the new configuration: {error}')
                if not errors:
                    _say('The configuration was read again')
    except lifetime.Stopped:
        signals.starting = False
    except BaseException:
        signals.starting = False
        cloud.stop()
        raise
    _say('Stopping')
    running.forget(cloud.places.root)
    cloud.stop()
    _say('Stopped')


def _say(text: str) -> None:
    """Print a line. The cloud continues if the disk is full or the terminal is closed."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def _start(cloud: make.Cloud, fresh: bool, described: file_settings.Described | None) -> None:
    settings = cloud.places.settings
    if isinstance(settings.hosts, int):
        each = ' each' if settings.cells > 1 else ''
        hosts = f'{plurals.of(settings.hosts, "host")}{each}'
    else:
        hosts = f'{options.written(settings.hosts)} hosts'
    cells = plurals.of(settings.cells, 'cell')
    title = f'Starting {cells} with {hosts} in {cloud.places.root}'
    with progress_display.Steps(title) as steps:
        if described is None:
            cloud.start(fresh=fresh, progress=steps.begin)
            return

        def fill() -> None:
            steps.begin(f'objects of {described.document.path}')
            starting.fill(cloud.places, described)

        cloud.start(fresh=fresh, progress=steps.begin, fill=fill)
    starting.apply(cloud.places, described)


def _await(places: layout.Layout, child: int) -> running.Running:
    """Wait until the cloud of a child process is ready. Return its services."""
    try:
        return running.wait_ready(places.root, child)
    except KeyboardInterrupt:
        os.kill(child, signal.SIGTERM)
        raise


def show(
    ready: running.Running,
    settings: layout.Settings,
    snapshot: cloud_snapshots.Snapshot | None,
    *,
    as_json: bool,
    described: file_settings.Described | None = None,
) -> None:
    """Print how to use a detached cloud. snapshot, described: see `run`"""
    places = layout.Layout(settings)
    if as_json:
        found = {'state_dir': places.root, **dataclasses.asdict(ready)}
        if snapshot is not None:
            found['snapshot'] = cloud_snapshots.describe(snapshot.manifest)
        print(json.dumps(found, indent=2))
        return
    print(f'Ready: {ready.compute_url}')
    print(usage(ready, places, described))
    stop = state_dir.command('stop', places.root)
    print(f'{continued(snapshot)}\n{next_start(places, described)}\n`{stop}` stops the cloud.')


def continued(snapshot: cloud_snapshots.Snapshot | None) -> str:
    """Return a paragraph about the snapshot that a cloud continues with, '' without one."""
    if snapshot is None:
        return ''
    taken_at = cloud_snapshots.describe(snapshot.manifest)['taken_at']
    made = options.words(snapshot.manifest.settings, always=('cells', 'hosts'))
    return (
        f'\nThe cloud continues with a snapshot of {taken_at}, of a cloud that was created with:\n'
        f'  {made}\n'
    )


def next_start(places: layout.Layout, described: file_settings.Described | None = None) -> str:
    """Return a text about the next start, without the URLs of servers, which have passwords."""
    if described is None:
        given = options.words(vars(places.settings))
    else:
        given = f'-f {shlex.quote(described.document.path)}'
    words = [state_dir.command('up', places.root), given, options.own_words(places.settings)]
    up = ' '.join(filter(None, words))
    servers = ' with the same --bus and --db' if places.settings.bus else ''
    return f'The next `{up}`{servers} continues with the same servers.'


def usage(
    ready: running.Running,
    places: layout.Layout,
    described: file_settings.Described | None = None,
) -> str:
    """Return commands that a user pastes into a shell to use a cloud, and its URLs.

    described: the file of the cloud if it has one
    """
    text = f"""
  export OS_CLIENT_CONFIG_FILE={shlex.quote(ready.clouds_yaml)}
  openstack --os-cloud nova-lite hypervisor list
{_first_server(described)}
Variables for a shell: eval "$({state_dir.command('env', places.root)})"
Metadata of servers: {ready.metadata_url}
Sign requests with the secret in {places.metadata_secret_path}"""
    page = '' if ready.page_url is None else f'\n\nLive page for a browser: {ready.page_url}'
    if ready.horizon_url is not None:
        page += f'\n\nHorizon: {ready.horizon_url}\n'
        page += f'Log in as demo or admin with the password in {ready.clouds_yaml}'
    return text + page


def _first_server(described: file_settings.Described | None) -> str:
    """Return a command that creates a server, '' in a cloud without the objects of all clouds."""
    if described is not None and not described.document.value.get('defaults', True):
        return ''
    return """\
  openstack --os-cloud nova-lite-demo server create --flavor m1.tiny --image cirros \\
      --network private --wait my-server
"""
