"""Saved states of an embedded cloud: copies of all its databases and guests, by name.

A state lies in `saved/NAME` of the state directory. It is whole: a draft (`.NAME.new`) is renamed
once all its files are there, and a former state of that name (`.NAME.old`) deleted after that.
A restore overwrites the contents of the files of the cloud; readers in
other processes keep their connections. One that was cut short is repeated by the next start,
and a snapshot becomes the cloud of a directory in the same way (`cloud_snapshots`).
"""

import contextlib
import json
import os
import re
import shutil
import sqlite3

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import schema_migration
from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import stored_times
from nova_lite.simcloud import app as simcloud
from nova_lite.virt.sim import store

# What `up` saves of a cloud that was just created.
FRESH = 'fresh'
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')
FACTS = 'state.json'
DRAFT, FORMER = '.new', '.old'
RESTORING = os.path.join('run', 'restoring')
# The time that passed since the state was saved has not passed for its hosts.
JOBS = 'UPDATE clock SET ahead = ahead - ?1, wall = wall + ?1'
# The super-conductor that held them is gone.
LEASES = 'UPDATE sagas SET owner = NULL, lease_until = NULL'


class StateNotFound(exception.NotFound):
    msg = (
        'There is no saved state %(name)s. Known states: %(known)s. '
        'A cloud that was created by `nova-lite up` or `up --fresh` has the state fresh.'
    )


class OtherCloud(exception.Conflict):
    msg = (
        'The saved state %(name)s was saved by a cloud with other %(what)s: %(saved)s, not %(now)s. '
        'Restore another state, or create a new cloud with `nova-lite up --fresh`.'
    )


class NotWhole(exception.Conflict):
    msg = (
        'The saved state %(name)s lacks %(files)s, so it cannot be restored. '
        'Delete its directory %(directory)s.'
    )


class NotSaved(exception.Unavailable):
    msg = (
        'The state %(name)s could not be saved: %(cause)s. '
        'Correct that, for example by freeing space, and repeat the command.'
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


class SavedStates:
    """The saved states of a cloud. places: its Layout"""

    def __init__(self, places):
        self._places = places

    def names(self):
        """Return the names of all states, sorted."""
        root = self._path()
        if not os.path.isdir(root):
            return []
        return sorted(name for name in os.listdir(root) if NAME.fullmatch(name))

    def check(self, name):
        """Raise StateNotFound, NotWhole, or OtherCloud if this cloud cannot continue with it."""
        self.require_files()
        if name not in self.names():
            known = ', '.join(self.names()) or 'none'
            raise StateNotFound(name=name, known=known)
        self._require((FACTS,), name)
        with open(self._path(name, FACTS)) as file:
            saved = json.load(file)['cloud']
        for what, now in self._cloud().items():
            if saved.get(what) != now:
                raise OtherCloud(name=name, what=what, saved=saved.get(what), now=now)
        self._require(self.files(), name)

    def _require(self, files, name):
        missing = [file for file in files if not os.path.exists(self._path(name, file))]
        if missing:
            raise NotWhole(name=name, files=', '.join(missing), directory=self._path(name))

    def require_files(self):
        """Raise NotImplementedHere unless the databases of the cloud are SQLite files."""
        if self._places.settings.database is not None:
            raise exception.NotImplementedHere(
                reason='states of a cloud on a database server (--db) cannot be saved or restored'
            )

    def save(self, name):
        """Save the state of the cloud, replacing a state of that name. Raise NotSaved."""
        try:
            self._save(name)
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(self.draft(name), ignore_errors=True)
            raise NotSaved(name=name, cause=error) from error

    def _save(self, name):
        self.copy(self.draft(name))
        self.adopt(name)

    def copy(self, directory):
        """Copy the files of the cloud, as they are at one instant, to a new directory.

        Return when that was, in seconds since the epoch. Raise NotQuiet, OSError, sqlite3.Error.
        """
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory, mode=0o700)
        files = {path: os.path.join(directory, name) for name, path in self.files().items()}
        found = []
        sqlite_copies.copy_all(files, noted=lambda: found.append(runtime.timestamp()))
        self.describe(directory, saved_at=found[0])
        return found[0]

    def describe(self, directory, *, saved_at):
        """Write what `check` and `restore` need to know of the files in a directory."""
        facts = {'cloud': self._cloud(), 'saved_at': saved_at}
        layout.write(os.path.join(directory, FACTS), json.dumps(facts))

    def adopt(self, name):
        """Make the draft of a state the state of that name."""
        former, path = self._former(name), self._path(name)
        with contextlib.suppress(FileNotFoundError):
            os.rename(path, former)
        os.rename(self.draft(name), path)
        shutil.rmtree(former, ignore_errors=True)

    def restore(self, name):
        """Give the cloud the contents of a state. Nothing else writes to its files.

        Raise NotRestored: the contents of the files are then of no use.
        """
        try:
            self._restore(name)
        except (OSError, sqlite3.Error) as error:
            raise NotRestored(name=name, cause=error) from error

    def _restore(self, name):
        marker = self.mark(name)
        with open(self._path(name, FACTS)) as file:
            passed_s = runtime.timestamp() - json.load(file)['saved_at']
        for file, target in self.files().items():
            sqlite_copies.copy(self._path(name, file), target)
        for cell in (layout.CELL0, *self._places.cell_names):
            stored_times.shift_cell(self._database(cell), passed_s)
        for cell in self._places.cell_names:
            sqlite_copies.execute(self._places.guests_path(cell), JOBS, passed_s)
        stored_times.shift_api(self._database(layout.API), passed_s)
        sqlite_copies.execute(self._database(layout.API), LEASES)
        audits.forget(self._places.root)
        os.unlink(marker)

    def mark(self, name):
        """Make the next start restore a state. Return the path of the mark. Raise Unavailable."""
        marker = self._places.path(RESTORING)
        try:
            layout.write(marker, name)
        except OSError as error:
            raise exception.Unavailable(service=f'The file {marker}', reason=error) from error
        return marker

    def finish(self):
        """Finish what a process was killed in: a save is undone, and a restore repeated.

        Raise NotRepeated.
        """
        root = self._path()
        left = [each for each in os.listdir(root) if each[0] == '.'] if os.path.isdir(root) else []
        for entry in left:
            name = entry[1:].removesuffix(FORMER)
            if entry.endswith(FORMER) and not os.path.exists(self._path(name)):
                os.rename(self._path(entry), self._path(name))
            else:
                shutil.rmtree(self._path(entry))
        marker = self._places.path(RESTORING)
        if os.path.exists(marker):
            with open(marker) as file:
                name = file.read().strip()
            try:
                self.check(name)
                self.restore(name)
            except exception.NovaLiteError as error:
                raise NotRepeated(reason=error, marker=marker) from error

    def draft(self, name):
        """Return the directory of a state while it is written."""
        return self._path(f'.{name}{DRAFT}')

    def _former(self, name):
        return self._path(f'.{name}{FORMER}')

    def _path(self, *parts):
        return os.path.join(self._places.root, 'saved', *parts)

    def _database(self, name):
        return self._places.path('db', f'{name}.sqlite')

    def files(self):
        """Return {name of the copy: path of the file of the cloud}."""
        cells = self._places.cell_names
        names = (layout.API, layout.CELL0, *cells, layout.PLACEMENT, layout.SIMCLOUD)
        files = {f'{name}.sqlite': self._database(name) for name in names}
        return files | {f'guests-{cell}.sqlite': self._places.guests_path(cell) for cell in cells}

    def _cloud(self):
        """Return what a cloud must have in common with the one that saved a state."""
        return {
            'cells': self._places.settings.cells,
            'hosts': self._places.settings.hosts,
            'directory': self._places.root,
            'schemas': schemas(),
        }


def schemas():
    """Return {kind of database: version} that a release must have to continue with copies."""
    return {
        'api': schema_migration.newest('api'),
        'cell': schema_migration.newest('cell'),
        'guests': store.VERSION,
        'simcloud': simcloud.fingerprint(),
    }
