"""Snapshots of an embedded cloud: files with which the same or another cloud continues.

A snapshot has the databases, the guests, the passwords and the settings of a cloud, but not its
port and the keys of its local endpoints. The saved states of a cloud are snapshots in the
directory `saved` of its state directory.

A restore unpacks a snapshot beside the files of the cloud, and then overwrites the contents of
these files, so that readers in other processes keep their connections. It first replaces the cell
mappings, which alone name the directory of a cloud. The next start repeats an interrupted restore.
`continuing` starts a cloud with a snapshot of another cloud.
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
from nova_lite.lab.launcher import durable
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import state_files
from nova_lite.lab.launcher import stored_times
from nova_lite.simcloud import app as simcloud
from nova_lite.virt.sim import profile
from nova_lite.virt.sim import store

# The name of the state that `up` saves of a new cloud.
FRESH = 'fresh'
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')
SAVED, SUFFIX = 'saved', '.snapshot'
RESTORING = os.path.join('run', 'restoring')
# The directory for files that are being copied.
DRAFT = 'snapshot.new'
# Files with the same name in the archive and in the state directory. A restore keeps them.
KEPT = (layout.SECRETS, layout.METADATA_SECRET, 'etc/policy.yaml')
# The place of a profile that was a file.
PROFILE = 'etc/profile.yaml'
SECRETS_SCHEMA = schema_module.Schema(
    {'type': 'object', 'additionalProperties': {'type': 'string', 'maxLength': 255}},
    place='secrets',
)
MAPPING = """
UPDATE cell_mappings SET transport_url = ?, database_connection = ? WHERE name = ?
"""
# The super-conductors that held the leases have ended.
LEASES = 'UPDATE sagas SET owner = NULL, lease_until = NULL'
# As after a boot of the machine, elapsed time is counted from the recorded wall time.
BOOT = "UPDATE clock SET boot_id = ''"
# The time since the snapshot was taken has not passed for the jobs of its hosts.
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
    """The path of a snapshot that this release can use, and its manifest."""

    path: str
    manifest: snapshot_file.Manifest


def read(path: str) -> Snapshot:
    """Read the manifest of a snapshot.

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
    """Return {kind of database: version}, which a release must share to use a snapshot."""
    return {
        'api': schema_migration.newest('api'),
        'cell': schema_migration.newest('cell'),
        'guests': store.VERSION,
        'simcloud': simcloud.fingerprint(),
    }


def describe(manifest: snapshot_file.Manifest) -> dict[str, typing.Any]:
    """Return the format, release, time, settings and size of a snapshot, as JSON."""
    taken_at = datetime.datetime.fromtimestamp(manifest.taken_at, datetime.UTC)
    return {
        'format': manifest.format,
        'release': manifest.release,
        'taken_at': taken_at.isoformat(timespec='milliseconds'),
        **manifest.settings,
        'bytes': sum(each['size'] for each in manifest.files.values()),
    }


class Snapshots:
    """Takes and restores snapshots of a cloud."""

    def __init__(self, places: layout.Layout) -> None:
        self._places = places

    def names(self) -> list[str]:
        """Return the names of all saved states, sorted."""
        names = [name.removesuffix(SUFFIX) for name in self._entries() if name.endswith(SUFFIX)]
        return sorted(name for name in names if NAME.fullmatch(name))

    def path(self, name: str) -> str:
        """Return the path of the file of a saved state. Create its directory."""
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
        """Write a snapshot of the running cloud. Return its manifest. Raise NotWritten, NotQuiet.

        The new file replaces a former one when it is complete.
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
                # A drill that begins or ends in between has its record in one of both copies.
                state_files.copy(self._places.root, draft)
                sqlite_copies.copy_all(
                    {self.files()[name]: copy for name, copy in copies.items()},
                    noted=lambda: found.append(runtime.timestamp()),
                )
                files |= state_files.copy(self._places.root, draft)
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
        """Yield an empty directory in the state directory, and remove it after the block."""
        draft = os.path.join(self._places.root, DRAFT)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            os.mkdir(draft, mode=0o700)
            yield draft
        finally:
            # Ignore errors: the disk may be full.
            shutil.rmtree(draft, ignore_errors=True)

    # ---- restore ----

    def find(self, name: str) -> Snapshot:
        """Return the snapshot of a saved state.

        Raise StateNotFound, OtherCloud if this cloud cannot continue with the state, and as `read`.
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
        """Prepare to restore a saved state. Yield the function that restores it.

        If the preparation raises an error of `find`, `unpacked` or `mark`, nothing has changed.
        No other thread may write to the files of the cloud while the function runs. After
        NotRestored, which the function raises, the contents of the files are useless.
        """
        snapshot = self.find(name)
        with self.unpacked(snapshot) as draft:
            self.mark(name)
            yield functools.partial(self._put, name, snapshot.manifest, draft)

    @contextlib.contextmanager
    def unpacked(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield a directory with the files of a snapshot, adapted to this cloud.

        Raise Damaged, NotUnpacked.
        """
        names = [*self.files(), *KEPT]
        if snapshot.manifest.settings['profile'] is None:
            names.append(PROFILE)
        with self._draft() as draft:
            targets = {name: os.path.join(draft, name) for name in names}
            try:
                os.mkdir(os.path.join(draft, 'etc'))
                targets |= state_files.targets(draft, snapshot.manifest.files)
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
        """Write the URLs of this cloud into copied databases, and delete the leases of daemons.

        path: of the snapshot. Raise Damaged if a database has triggers or views
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
        """Overwrite the files of the cloud with the files in a draft."""
        changes = self.moved(runtime.timestamp() - manifest.taken_at)
        try:
            for file, target in self.files().items():
                with sqlite_copies.unshared(os.path.join(draft, file)) as connection:
                    sqlite_copies.execute(connection, changes.get(file, ()))
                    sqlite_copies.replace(target, connection)
            audits.forget(self._places.root)
            state_files.put(draft, self._places.root)
            os.unlink(os.path.join(self._places.root, RESTORING))
        except (OSError, sqlite3.Error) as error:
            raise NotRestored(name=name, cause=error) from error

    def moved(self, passed_s: float) -> dict[str, list[sqlite_copies.Statement]]:
        """Return {file: statements} that move the stored times of a cloud ahead.

        passed_s: the time since the snapshot was taken
        """
        cells = self._places.cell_names
        changes = {_database(layout.API): stored_times.of_api(passed_s)}
        for cell in (layout.CELL0, *cells):
            changes[_database(cell)] = stored_times.of_cell(passed_s)
        return changes | {_guests(cell): [(JOBS, passed_s)] for cell in cells}

    def mark(self, name: str) -> None:
        """Record the state that the next start must restore. Raise Unavailable."""
        marker = self._places.path(RESTORING)
        try:
            layout.write(marker, name)
            durable.sync(marker)
            durable.sync(os.path.dirname(marker))
        except OSError as error:
            raise exception.Unavailable(service=f'The file {marker}', reason=error) from error

    def finish(self) -> None:
        """Repeat a restore that was interrupted by a kill, and delete unfinished files.

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
        """Return {name in a snapshot: path of the file of the cloud} of all databases."""
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
    """Raise Damaged unless a written file has passwords. path: of its snapshot"""
    try:
        with open(written) as file:
            SECRETS_SCHEMA.check(json.load(file))
    except (ValueError, RecursionError, exception.Invalid) as error:
        reason = f'{layout.SECRETS} cannot be read'
        raise snapshot_file.Damaged(file=path, reason=reason) from error
