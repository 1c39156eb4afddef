"""Snapshots of an embedded cloud: files with which it, or another cloud, continues.

A snapshot has the databases, the guests, the passwords and the settings of a cloud, but not its
port and the keys of its local endpoints. The saved states of a cloud are snapshots in the
directory `saved` of its state directory.

A restore unpacks a snapshot beside the files of the cloud, and then overwrites their contents;
readers in other processes keep their connections. The cell mappings, which alone name the
directory of a cloud, are replaced before. A restore that was cut short is repeated by the next
start, and `continuing` lets a cloud start with a snapshot of another.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import datetime
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import sqlite3
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import schema as schema_module
from nova_lite.db import schema_migration
from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import stored_times
from nova_lite.simcloud import app as simcloud
from nova_lite.virt.sim import profile
from nova_lite.virt.sim import store

# The state that `up` saves of a cloud that was just created.
FRESH = 'fresh'
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')
SAVED, SUFFIX = 'saved', '.snapshot'
RESTORING = os.path.join('run', 'restoring')
# The directory of files that a process is copying.
DRAFT = 'snapshot.new'
# In the archive as in the state directory. A restore leaves them.
KEPT = (layout.SECRETS, layout.METADATA_SECRET, 'etc/policy.yaml')
# Where a profile lies that was a file.
PROFILE = 'etc/profile.yaml'
SECRETS_SCHEMA = schema_module.Schema(
    {'type': 'object', 'additionalProperties': {'type': 'string', 'maxLength': 255}},
    place='secrets',
)
MAPPING = """
UPDATE cell_mappings SET transport_url = ?, database_connection = ? WHERE name = ?
"""
# The super-conductor that held them is gone.
LEASES = 'UPDATE sagas SET owner = NULL, lease_until = NULL'
# As after another boot: time counts from what the wall clock showed.
BOOT = "UPDATE clock SET boot_id = ''"
# The time that passed since the snapshot was taken has not passed for its hosts.
JOBS = 'UPDATE clock SET wall = wall + ?'


class StateNotFound(exception.NotFound):
    msg = (
        'There is no saved state %(name)s. Known states: %(known)s. '
        'A cloud that was created by `nova-lite up` or `up --fresh` has the state fresh.'
    )


class OtherCloud(exception.Conflict):
    msg = (
        'The saved state %(name)s was saved by a cloud with other %(what)s%(difference)s. Restore '
        'another state, or start a cloud from %(file)s with `nova-lite up --from`.'
    )


class OtherSchemas(exception.Conflict):
    msg = (
        'The snapshot %(file)s was taken by nova-lite %(release)s with another version of '
        '%(what)s: %(found)s, not %(known)s. Use that release, or take the snapshot again '
        'with this one.'
    )


class NotWritten(exception.Unavailable):
    msg = (
        'The snapshot %(file)s could not be written: %(cause)s. '
        'Correct that, for example by freeing space, or choose another file.'
    )


class NotRestored(exception.Unavailable):
    msg = (
        'The saved state %(name)s could not be restored: %(cause)s. '
        'Restore another state, or create a new cloud with `nova-lite up --fresh`.'
    )


class NotRepeated(exception.Conflict):
    msg = (
        'Cannot repeat the restore that was interrupted: %(reason)s Write the name of another state '
        'to %(marker)s, or create a new cloud with `nova-lite up --fresh`.'
    )


class Snapshot(typing.NamedTuple):
    """The path of a file that this release can use, and its Manifest."""

    path: str
    manifest: snapshot_file.Manifest


def read(path: str) -> Snapshot:
    """Return the Snapshot of a file.

    Raise Unusable, Damaged, OtherFormat, OtherSchemas.
    """
    manifest = snapshot_file.read(path)
    for what, known in schemas().items():
        found = manifest.schemas.get(what)
        if found != known:
            raise OtherSchemas(
                file=path, release=manifest.release, what=what, found=found, known=known
            )
    return Snapshot(path, manifest)


def schemas() -> dict[str, typing.Any]:
    """Return {kind of database: version} that a release must have to continue with copies."""
    return {
        'api': schema_migration.newest('api'),
        'cell': schema_migration.newest('cell'),
        'guests': store.VERSION,
        'simcloud': simcloud.fingerprint(),
    }


def describe(manifest: snapshot_file.Manifest) -> dict[str, typing.Any]:
    """Return what people want to know of a snapshot, in JSON's terms."""
    taken_at = datetime.datetime.fromtimestamp(manifest.taken_at, datetime.UTC)
    return {
        'format': manifest.format,
        'release': manifest.release,
        'taken_at': taken_at.isoformat(timespec='milliseconds'),
        **manifest.settings,
        'bytes': sum(each['size'] for each in manifest.files.values()),
    }


class Snapshots:
    """Takes and restores snapshots of a cloud. places: its Layout"""

    def __init__(self, places: layout.Layout) -> None:
        self._places = places

    def names(self) -> list[str]:
        """Return the names of all saved states, sorted."""
        names = [name.removesuffix(SUFFIX) for name in self._entries() if name.endswith(SUFFIX)]
        return sorted(name for name in names if NAME.fullmatch(name))

    def path(self, name: str) -> str:
        """Return the file of a saved state. Its directory is made."""
        return self._places.path(SAVED, f'{name}{SUFFIX}')

    def _entries(self) -> list[str]:
        root = os.path.join(self._places.root, SAVED)
        return os.listdir(root) if os.path.isdir(root) else []

    def require_files(self) -> None:
        """Raise NotImplementedHere unless the databases of the cloud are SQLite files."""
        if self._places.settings.database is not None:
            raise exception.NotImplementedHere(
                reason='states of a cloud on a database server (--db) cannot be saved or restored'
            )

    # ---- take ----

    def take(self, path: str) -> snapshot_file.Manifest:
        """Write a snapshot of the running cloud; return its Manifest. Raise NotWritten, NotQuiet.

        A former file is replaced once the new one is whole.
        """
        settings = {name: getattr(self._places.settings, name) for name in snapshot_file.SETTINGS}
        files = {name: self._places.path(name) for name in KEPT}
        if os.path.exists(self._places.path(client_config.USERS)):
            files[client_config.USERS] = self._places.path(client_config.USERS)
        if settings['profile'] not in profile.bundled():
            files[PROFILE], settings['profile'] = settings['profile'], None
        found = []
        try:
            with self._draft() as draft:
                copies = {name: os.path.join(draft, name) for name in self.files()}
                sqlite_copies.copy_all(
                    {self.files()[name]: copy for name, copy in copies.items()},
                    noted=lambda: found.append(runtime.timestamp()),
                )
                manifest = snapshot_file.Manifest(
                    release=importlib.metadata.version('nova-lite'),
                    schemas=schemas(),
                    taken_at=found[0],
                    settings=settings,
                    files={},
                )
                return snapshot_file.write(path, manifest, copies | files)
        except (OSError, sqlite3.Error) as error:
            raise NotWritten(file=path, cause=error) from error

    @contextlib.contextmanager
    def _draft(self) -> Iterator[str]:
        """Yield an empty directory in the state directory, which is removed."""
        draft = os.path.join(self._places.root, DRAFT)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            os.mkdir(draft, mode=0o700)
            yield draft
        finally:
            # Perhaps the disk is full.
            shutil.rmtree(draft, ignore_errors=True)

    # ---- restore ----

    def find(self, name: str) -> Snapshot:
        """Return the Snapshot of a saved state.

        Raise StateNotFound, OtherCloud if this cloud cannot continue with it, and as `read`.
        """
        self.require_files()
        if name not in self.names():
            known = ', '.join(self.names()) or 'none'
            raise StateNotFound(name=name, known=known)
        found = read(self.path(name))
        for what in ('cells', 'hosts'):
            saved, now = found.manifest.settings[what], getattr(self._places.settings, what)
            saved = tuple(saved) if isinstance(saved, list) else saved
            if saved != now:
                raise self._other(name, what, f': {saved}, not {now}')
        secrets = found.manifest.files.get(layout.SECRETS)
        if secrets is None or secrets['sha256'] != _digest(self._places.path(layout.SECRETS)):
            raise self._other(name, 'passwords')
        return found

    def _other(self, name: str, what: str, difference: str = '') -> OtherCloud:
        return OtherCloud(name=name, what=what, difference=difference, file=self.path(name))

    @contextlib.contextmanager
    def restoring(self, name: str) -> Iterator[Callable[[], None]]:
        """Prepare to restore a saved state; yield the function that does it.

        Nothing has changed if this raises an error as of `find`, `unpacked` and `mark`. Nothing
        else may write to the files of the cloud during the call. It raises NotRestored: the
        contents of the files are then of no use.
        """
        snapshot = self.find(name)
        with self.unpacked(snapshot) as draft:
            self.mark(name)
            yield functools.partial(self._put, name, snapshot.manifest, draft)

    @contextlib.contextmanager
    def unpacked(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield a directory with all files of a snapshot, which name the places of this cloud.

        Raise Damaged, NotUnpacked.
        """
        names = [*self.files(), *KEPT]
        if snapshot.manifest.settings['profile'] is None:
            names.append(PROFILE)
        with self._draft() as draft:
            targets = {name: os.path.join(draft, name) for name in names}
            try:
                os.mkdir(os.path.join(draft, 'etc'))
                snapshot_file.extract(*snapshot, targets)
                _check_secrets(snapshot.path, targets[layout.SECRETS])
                self._settle(snapshot.path, draft)
            except sqlite3.Error as error:
                raise snapshot_file.Damaged(file=snapshot.path, reason=error) from error
            except OSError as error:
                raise snapshot_file.NotUnpacked(
                    file=snapshot.path, target=draft, cause=error
                ) from error
            yield draft

    def _settle(self, path: str, draft: str) -> None:
        """Make copies name the buses and databases of this cloud, and none of its daemons.

        path: of their snapshot. Raise Damaged if one has what no cloud writes
        """
        cells = self._places.cell_names
        changes = dict.fromkeys(map(_guests, cells), [(BOOT,)])
        mappings = map(self._mapping, (layout.CELL0, *cells))
        changes[_database(layout.API)] = [(LEASES,), *mappings]
        for name in self.files():
            with sqlite_copies.unshared(os.path.join(draft, name)) as connection:
                found = sqlite_copies.programs(connection)
                if found:
                    reason = f'{name} has triggers or views: {", ".join(found)}'
                    raise snapshot_file.Damaged(file=path, reason=reason)
                sqlite_copies.execute(connection, changes.get(name, ()))

    def _mapping(self, cell: str) -> sqlite_copies.Statement:
        urls = self._places.cell_urls(cell)
        return MAPPING, urls['transport_url'], urls['database_connection'], cell

    def _put(self, name: str, manifest: snapshot_file.Manifest, draft: str) -> None:
        """Give the cloud the contents of the files in a draft."""
        passed_s = runtime.timestamp() - manifest.taken_at
        changes = {_database(layout.API): stored_times.of_api(passed_s)}
        for cell in (layout.CELL0, *self._places.cell_names):
            changes[_database(cell)] = stored_times.of_cell(passed_s)
        for cell in self._places.cell_names:
            changes[_guests(cell)] = [(JOBS, passed_s)]
        try:
            for file, target in self.files().items():
                with sqlite_copies.unshared(os.path.join(draft, file)) as connection:
                    sqlite_copies.execute(connection, changes.get(file, ()))
                    sqlite_copies.replace(target, connection)
            audits.forget(self._places.root)
            os.unlink(os.path.join(self._places.root, RESTORING))
        except (OSError, sqlite3.Error) as error:
            raise NotRestored(name=name, cause=error) from error

    def mark(self, name: str) -> None:
        """Make the next start restore a state. Raise Unavailable."""
        marker = self._places.path(RESTORING)
        try:
            layout.write(marker, name)
        except OSError as error:
            raise exception.Unavailable(service=f'The file {marker}', reason=error) from error

    def finish(self) -> None:
        """Repeat a restore that a process was killed in, and delete what one was writing.

        Raise NotRepeated.
        """
        shutil.rmtree(os.path.join(self._places.root, DRAFT), ignore_errors=True)
        for entry in self._entries():
            if entry.endswith(snapshot_file.UNFINISHED):
                os.unlink(os.path.join(self._places.root, SAVED, entry))
        marker = os.path.join(self._places.root, RESTORING)
        if os.path.exists(marker):
            with open(marker) as file:
                name = file.read().strip()
            try:
                with self.restoring(name) as restore:
                    restore()
            except exception.NovaLiteError as error:
                raise NotRepeated(reason=error, marker=marker) from error

    def files(self) -> dict[str, str]:
        """Return {name in a snapshot: path of the file of the cloud}, of all its databases."""
        cells = self._places.cell_names
        names = (layout.API, layout.CELL0, *cells, layout.PLACEMENT, layout.SIMCLOUD)
        files = {_database(name): self._places.path('db', _database(name)) for name in names}
        return files | {_guests(cell): self._places.guests_path(cell) for cell in cells}


def _database(name: str) -> str:
    return f'{name}.sqlite'


def _guests(cell: str) -> str:
    return f'guests-{cell}.sqlite'


def _digest(path: str) -> str:
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def _check_secrets(path: str, written: str) -> None:
    """Raise Damaged unless a file has passwords. path: of its snapshot"""
    try:
        with open(written) as file:
            SECRETS_SCHEMA.check(json.load(file))
    except (ValueError, RecursionError, exception.Invalid) as error:
        reason = f'{layout.SECRETS} cannot be read'
        raise snapshot_file.Damaged(file=path, reason=reason) from error
