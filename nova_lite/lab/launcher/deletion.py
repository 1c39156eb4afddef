"""The deletion of a cloud, by commands that import no database."""

import errno
import os
import shutil
import tempfile

from nova_lite import exception
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import state_dir

# A directory without one of these files is not the state directory of a cloud.
MADE = (layout.SECRETS, layout.METADATA_SECRET, lock.LOCK)

DELETED = '.deleted.'


def delete(directory: str) -> None:
    """Delete the state directory of a cloud that has stopped. Raise Invalid, InUse, Unavailable."""
    for name in MADE:
        state_dir.existing(directory, name)
    places = layout.Layout(layout.Settings(state_dir=directory))
    if os.path.commonpath([places.root, os.getcwd()]) == places.root:
        raise exception.Invalid(
            reason=f'{places.root} is or contains the working directory. Change to another one'
        )
    places.hold()
    try:
        if os.path.exists(places.path('etc', 'control.conf')):
            _require_files(directory)
        try:
            _remove(places.root)
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {places.root}',
                reason=f'{error}. Correct this and repeat the command',
            ) from error
    finally:
        places.release()


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


def _require_files(directory: str) -> None:
    """Raise Invalid if the databases of a cloud are not files of its state directory."""
    if not state_dir.control_conf(directory).api_database.connection.startswith('sqlite:'):
        raise exception.Invalid(
            reason=f'the databases of the cloud in {directory} are on a server (--db), and would '
            'stay there. Delete them there, and then the directory'
        )
