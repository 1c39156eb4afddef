"""A cloud that continues with a snapshot of another cloud: its settings and its first files.

In the state directory, the snapshot becomes the saved state `fresh`, which the first start and each
reset restore. It is first written under the name ALONE beside a former cloud, and under the name
BESIDE if there is none. `complete` then deletes the former cloud and moves the snapshot to its
place. If the process is killed before that, the next start calls `complete`.
"""

from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import os
import shutil
import typing

from nova_lite import exception
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import durable
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher import snapshot_file
from nova_lite.virt.sim import profile

ALONE, BESIDE = 'alone.snapshot', 'beside.snapshot'
COPIED = f'copied.snapshot{snapshot_file.UNFINISHED}'
# Each cloud that has begun to start has one of these databases.
DATABASES = (layout.SIMCLOUD, layout.API)


class OtherSize(exception.Conflict):
    msg = 'The cloud of the snapshot has %(what)s=%(found)s, not %(given)s. Omit --%(what)s.'


class NotEmpty(exception.Conflict):
    msg = (
        'The state directory %(directory)s has a cloud already. Choose another with '
        '--state-dir, or delete that cloud with --fresh.'
    )


class UnknownProfile(exception.Conflict):
    msg = (
        'The profile of the snapshot %(file)s cannot be used: %(cause)s. '
        'Choose another with --profile.'
    )


def settings_of(
    manifest: snapshot_file.Manifest, state_dir: str, given: Mapping[str, typing.Any]
) -> dict[str, typing.Any]:
    """Return the keyword arguments of layout.Settings for a cloud from a snapshot.

    given: settings that replace those of the snapshot; the options in it are merged one by one
    Raise OtherSize
    """
    for what in ('cells', 'hosts'):
        found = manifest.settings[what]
        found = tuple(found) if isinstance(found, list) else found
        if given.get(what, found) != found:
            raise OtherSize(what=what, found=found, given=given[what])
    taken = dict(manifest.settings)
    _check_options(taken['options'])
    if taken['profile'] is None:
        taken['profile'] = os.path.join(os.path.abspath(state_dir), cloud_snapshots.PROFILE)
    chosen = given.get('options', {})
    options = {
        group: {**taken['options'].get(group, {}), **chosen.get(group, {})}
        for group in [*taken['options'], *chosen]
    }
    return {**taken, **given, 'options': options, 'state_dir': state_dir}


def _check_options(options: Mapping[str, Mapping[str, str]]) -> None:
    """Raise ValueError for options of a snapshot that name a directory of another cloud."""
    for group, values in options.items():
        if group.upper() == 'DEFAULT' and 'state_path' in values:
            raise ValueError(
                '--from: the snapshot sets DEFAULT.state_path, which belongs to a cloud'
            )


def begun(directory: str) -> dict[str, typing.Any] | None:
    """Return the settings of a snapshot whose `begin` was interrupted in a state directory.

    `complete` will make it the first state of the cloud there.
    """
    for name in (ALONE, BESIDE):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            found = dict(cloud_snapshots.read(path).manifest.settings)
            if isinstance(found['hosts'], list):
                found['hosts'] = tuple(found['hosts'])
            return found
    return None


def brings_profile(places: layout.Layout) -> bool:
    """Return whether the profile of a cloud is the file that `begin` writes and checks."""
    return os.path.abspath(places.settings.profile) == os.path.join(
        places.root, cloud_snapshots.PROFILE
    )


def resume(
    snapshot: cloud_snapshots.Snapshot | None, places: layout.Layout, *, fresh: bool = False
) -> None:
    """Complete the work of a killed process, and begin with a snapshot if there is one.

    Raise Spoiled if the files of a cloud are not whole.
    fresh: see `begin`. The work is then not completed, because all files are deleted and this
        release may be unable to complete it
    """
    if not fresh:
        complete(places)
        shape.require_files(places.root)
    if snapshot is not None:
        begin(snapshot, places, fresh=fresh)


def begin(
    snapshot: cloud_snapshots.Snapshot, places: layout.Layout, *, fresh: bool = False
) -> None:
    """Make the next start of a cloud, and each reset afterwards, restore a snapshot.

    places: of a state directory that this process has locked
    fresh: delete a former cloud, once the whole snapshot is beside it
    Raise NotEmpty, Unusable, Damaged, NotUnpacked, UnknownProfile, without changing the directory.
    """
    # A cloud on a database server has only the first of these files.
    if not fresh and any(os.path.exists(places.path('db', f'{n}.sqlite')) for n in DATABASES):
        raise NotEmpty(directory=places.root)
    copied = os.path.join(places.root, COPIED)
    try:
        _copy(snapshot.path, copied)
        with _named(snapshot.path):
            _check(snapshot, cloud_snapshots.read(copied), places)
        durable.replace(copied, os.path.join(places.root, ALONE if fresh else BESIDE))
    except BaseException:
        _forget_copy(places)
        raise
    complete(places)


def _copy(path: str, target: str) -> None:
    """Copy a snapshot into a file that only its owner can read: it has passwords."""
    try:
        with open(path, 'rb') as source, open(target, 'wb', opener=_private) as written:
            shutil.copyfileobj(source, written)
    except OSError as error:
        raise snapshot_file.NotUnpacked(file=path, target=target, cause=error) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _forget_copy(places: layout.Layout) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(places.root, COPIED))


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Make errors about the copy of a snapshot name the snapshot."""
    try:
        yield
    except (*snapshot_file.ERRORS, cloud_snapshots.OtherSchemas, UnknownProfile) as error:
        raise type(error)(**{**error.kwargs, 'file': path}) from error


def _check(
    snapshot: cloud_snapshots.Snapshot, copy: cloud_snapshots.Snapshot, places: layout.Layout
) -> None:
    """Raise an error unless a cloud can continue with the copy of a snapshot."""
    if copy.manifest != snapshot.manifest:
        raise snapshot_file.Damaged(file=copy.path, reason='it was replaced while it was copied')
    with cloud_snapshots.Snapshots(places).unpacked(copy) as draft:
        if copy.manifest.settings['profile'] is None:
            try:
                profile.load(os.path.join(draft, cloud_snapshots.PROFILE))
            except (profile.ProfileError, UnicodeError) as error:
                raise UnknownProfile(file=copy.path, cause=error) from error


def complete(places: layout.Layout) -> None:
    """Complete an interrupted `begin`. places: see `begin`"""
    _forget_copy(places)
    for name in (ALONE, BESIDE):
        path = os.path.join(places.root, name)
        if os.path.exists(path):
            if name == ALONE:
                places.clear(keep=(name,))
            _adopt(path, places)


def _adopt(path: str, places: layout.Layout) -> None:
    """Make a snapshot the first state of a cloud, with its passwords, profile, time and shape."""
    manifest = cloud_snapshots.read(path).manifest
    wanted = (*cloud_snapshots.KEPT, cloud_snapshots.PROFILE, client_config.USERS)
    names = set(manifest.files).intersection(wanted)
    targets = {name: places.path(name) for name in names}
    snapshot_file.extract(path, manifest, targets)
    written = [*targets.values(), shape.record(places.root, manifest.settings)]
    for each in {*written, *map(os.path.dirname, written)}:
        durable.sync(each)
    clocks.set_to(places.root, manifest.taken_at)
    found = cloud_snapshots.Snapshots(places)
    found.mark(cloud_snapshots.FRESH)
    durable.replace(path, found.path(cloud_snapshots.FRESH))
