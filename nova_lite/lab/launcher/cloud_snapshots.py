"""Snapshots of an embedded cloud: one file from which others start.

A snapshot has the databases, the guests, the passwords and the settings of the cloud, but not
its port and the keys of its local endpoints. In the state directory of another cloud it becomes
the saved state `fresh`, which the next start restores. It is written beside a former cloud
there, which is deleted after that. The cell mappings, which alone name the directory of the
cloud, are replaced before.
"""

import datetime
import importlib.metadata
import json
import os
import shutil
import sqlite3
import typing

from nova_lite import exception
from nova_lite.api import schema as schemas
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import saved_states
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import swap
from nova_lite.virt.sim import profile

# In the archive as in the state directory.
KEPT = ('secrets.json', 'metadata-secret', 'etc/policy.yaml')
SECRETS_SCHEMA = schemas.Schema(
    {'type': 'object', 'additionalProperties': {'type': 'string', 'maxLength': 255}},
    place='secrets',
)
# Where a profile lies that was a file.
PROFILE = 'etc/profile.yaml'
# The draft of a state, which the next start deletes if it is left.
DRAFT = 'snapshot'
# Each cloud has one of them once it has begun to start.
DATABASES = (layout.SIMCLOUD, layout.API)
MAPPING = """
UPDATE cell_mappings SET transport_url = ?, database_connection = ? WHERE name = ?
"""
# As after another boot: time counts from what the wall clock showed.
BOOT = "UPDATE clock SET boot_id = ''"


class OtherSchemas(exception.Conflict):
    msg = (
        'The snapshot %(file)s was taken by nova-lite %(release)s with another version of '
        '%(what)s: %(found)s, not %(known)s. Use that release, or take the snapshot again '
        'with this one.'
    )


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


class NotWritten(exception.Unavailable):
    msg = (
        'The snapshot %(file)s could not be written: %(cause)s. '
        'Correct that, for example by freeing space, or choose another file.'
    )


class NotContinued(exception.Unavailable):
    msg = (
        'The snapshot %(file)s could not be written to %(directory)s, which is as before: %(cause)s. '
        'Correct that, for example by freeing space, and repeat the command.'
    )


class Snapshot(typing.NamedTuple):
    """The path of a file that this release can use, and its Manifest."""

    path: str
    manifest: snapshot_file.Manifest


def save(places, states, path):
    """Write a snapshot of the running cloud and return its Manifest.

    states: the SavedStates of the cloud. Raise NotWritten, NotQuiet
    """
    directory = states.draft(DRAFT)
    settings = {name: getattr(places.settings, name) for name in snapshot_file.SETTINGS}
    files = {name: os.path.join(directory, name) for name in states.files()}
    files |= {name: places.path(name) for name in KEPT}
    if settings['profile'] not in profile.bundled():
        files[PROFILE], settings['profile'] = settings['profile'], None
    try:
        manifest = snapshot_file.Manifest(
            release=importlib.metadata.version('nova-lite'),
            schemas=saved_states.schemas(),
            taken_at=states.copy(directory),
            settings=settings,
            files={},
        )
        return snapshot_file.write(path, manifest, files)
    except (OSError, sqlite3.Error) as error:
        raise NotWritten(file=path, cause=error) from error
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def read(path):
    """Return the Snapshot of a file.

    Raise Unusable, Damaged, OtherFormat, OtherSchemas.
    """
    manifest = snapshot_file.read(path)
    for what, known in saved_states.schemas().items():
        found = manifest.schemas.get(what)
        if found != known:
            raise OtherSchemas(
                file=path, release=manifest.release, what=what, found=found, known=known
            )
    return Snapshot(path, manifest)


def describe(manifest):
    """Return what people want to know of a snapshot, in JSON's terms."""
    taken_at = datetime.datetime.fromtimestamp(manifest.taken_at, datetime.UTC)
    return {
        'format': manifest.format,
        'release': manifest.release,
        'taken_at': taken_at.isoformat(timespec='milliseconds'),
        **manifest.settings,
        'bytes': sum(each['size'] for each in manifest.files.values()),
    }


def settings_of(manifest, state_dir, given):
    """Return the keyword arguments of layout.Settings for a cloud from a snapshot.

    given: those that were chosen for the new cloud; each of the options replaces only its own
    Raise OtherSize
    """
    for what in ('cells', 'hosts'):
        found = manifest.settings[what]
        if given.get(what, found) != found:
            raise OtherSize(what=what, found=found, given=given[what])
    taken = dict(manifest.settings)
    _check_options(taken['options'])
    if taken['profile'] is None:
        taken['profile'] = os.path.join(os.path.abspath(state_dir), PROFILE)
    chosen = given.get('options', {})
    options = {
        group: {**taken['options'].get(group, {}), **chosen.get(group, {})}
        for group in [*taken['options'], *chosen]
    }
    return {**taken, **given, 'options': options, 'state_dir': state_dir}


def _check_options(options):
    """Raise ValueError for options of a snapshot that name a directory of another cloud."""
    for group, values in options.items():
        if group.upper() == 'DEFAULT' and 'state_path' in values:
            raise ValueError(
                '--from: the snapshot sets DEFAULT.state_path, which belongs to a cloud'
            )


def brings_profile(places):
    """Return whether the profile of a cloud is the one that `extract` writes and checks."""
    return os.path.abspath(places.settings.profile) == os.path.join(places.root, PROFILE)


def extract(snapshot, places, *, fresh=False):
    """Make the next start of a cloud, and each reset afterwards, restore a Snapshot.

    places: the Layout of a state directory that this process holds
    fresh: delete a former cloud there, once all of the snapshot is beside it
    Raise NotEmpty, Unusable, Damaged, NotExtracted, NotContinued, UnknownProfile. Then the
    directory is as before.
    """
    # A cloud on a database server has only the first of them.
    if not fresh and any(os.path.exists(places.path('db', f'{n}.sqlite')) for n in DATABASES):
        raise NotEmpty(directory=places.root)
    try:
        with swap.written(places, alone=fresh) as draft:
            _extract(snapshot, places, draft)
    except (OSError, sqlite3.Error) as error:
        raise NotContinued(file=snapshot.path, directory=places.root, cause=error) from error


def _extract(snapshot, places, draft):
    """Write a snapshot to a directory whose files will have their places in that of a cloud."""
    path, manifest = snapshot
    states = saved_states.SavedStates(places)
    saved = os.path.join(draft, 'saved', saved_states.FRESH)
    names = [*KEPT, *[PROFILE] * (manifest.settings['profile'] is None)]
    targets = {name: os.path.join(saved, name) for name in states.files()}
    targets |= {name: os.path.join(draft, name) for name in names}
    for each in {*targets.values(), os.path.join(draft, saved_states.RESTORING)}:
        os.makedirs(os.path.dirname(each), mode=0o700, exist_ok=True)
    snapshot_file.extract(path, manifest, targets)
    if PROFILE in targets:
        _check_profile(path, targets[PROFILE])
    _check_contents(path, targets)
    _settle(places, saved)
    states.describe(saved, saved_at=manifest.taken_at)
    clocks.set_to(draft, manifest.taken_at)
    layout.write(os.path.join(draft, saved_states.RESTORING), saved_states.FRESH)


def _check_contents(path, written):
    """Raise Damaged for files that no cloud writes. written: {name: path}"""
    for name, place in written.items():
        found = sqlite_copies.programs(place) if name.endswith('.sqlite') else []
        if found:
            reason = f'{name} has triggers or views: {", ".join(found)}'
            raise snapshot_file.Damaged(file=path, reason=reason)
    try:
        with open(written[layout.SECRETS]) as file:
            SECRETS_SCHEMA.check(json.load(file))
    except (ValueError, RecursionError, exception.Invalid) as error:
        reason = f'{layout.SECRETS} cannot be read'
        raise snapshot_file.Damaged(file=path, reason=reason) from error


def _check_profile(path, brought):
    try:
        profile.load(brought)
    except (profile.ProfileError, UnicodeError) as error:
        raise UnknownProfile(file=path, cause=error) from error


def _settle(places, directory):
    """Make copies in a directory name the buses and databases of this cloud."""
    api = os.path.join(directory, f'{layout.API}.sqlite')
    for cell in (layout.CELL0, *places.cell_names):
        urls = places.cell_urls(cell)
        sqlite_copies.execute(
            api, MAPPING, urls['transport_url'], urls['database_connection'], cell
        )
    for cell in places.cell_names:
        sqlite_copies.execute(os.path.join(directory, f'guests-{cell}.sqlite'), BOOT)
