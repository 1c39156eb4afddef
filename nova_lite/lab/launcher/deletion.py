"""The deletion of a cloud, by commands that import no database."""

import errno
import os
import shutil
import tempfile

from nova_lite import exception
from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import state_dir

# A directory without one of these files is not the state directory of a cloud.
MADE = (layout.SECRETS, layout.METADATA_SECRET, lock.LOCK)

DELETED = '.deleted.'


class NotDropped(exception.Unavailable):
    msg = (
        'The databases %(prefix)s... of the cloud in %(directory)s are on a server, and cannot be '
        'dropped. %(reason)s. Correct this and repeat the command, or delete the directory alone, '
        'which leaves the databases there'
    )


def delete(directory: str) -> list[str]:
    """Delete a cloud that has stopped: its state directory, and its databases on a server.

    Return the names of the databases. Raise Invalid, InUse, Unavailable.
    """
    for name in MADE:
        state_dir.existing(directory, name)
    places = layout.Layout(layout.Settings(state_dir=directory))
    if os.path.commonpath([places.root, os.getcwd()]) == places.root:
        raise exception.Invalid(
            reason=f'{places.root} is or contains the working directory. Change to another one'
        )
    places.hold()
    dropped: list[str] = []
    try:
        if os.path.exists(places.path('etc', 'control.conf')):
            dropped = _drop_databases(places)
        try:
            _remove(places.root)
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {places.root}',
                reason=f'{error}. Correct this and repeat the command',
            ) from error
    finally:
        places.release()
    return dropped


def _remove(root: str) -> None:
    """Remove a directory under another name, so that a cloud may be started there meanwhile.

    Also remove what a process that was killed here has left. No cloud has such a name.
    """
    parent, name = os.path.split(root)
    prefix = f'.{name}{DELETED}'
    for left in [each for each in os.listdir(parent) if each.startswith(prefix)]:
        # Another process may be removing it.
        shutil.rmtree(os.path.join(parent, left), ignore_errors=True)
    doomed = tempfile.mkdtemp(prefix=prefix, dir=parent)
    try:
        os.rename(root, doomed)
    except OSError as error:
        os.rmdir(doomed)
        # The directory is a mount point.
        if error.errno != errno.EBUSY:
            raise
        doomed = root
    shutil.rmtree(doomed)


def _drop_databases(places: layout.Layout) -> list[str]:
    """Drop the databases that `up --db` has created. Return their names. Raise Unavailable.

    The user and the password are those of the configuration.
    """
    url = state_dir.control_conf(places.root).api_database.connection
    if url.startswith('sqlite:'):
        return []
    prefix = places.database_name('')
    try:
        return database_servers.drop_all(url, prefix)
    except exception.Unavailable as error:
        raise NotDropped(directory=places.root, prefix=prefix, reason=error) from error
    except database_servers.Rejected as error:
        raise NotDropped(directory=places.root, prefix=prefix, reason=error.reason) from error
