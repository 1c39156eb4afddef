"""The deletion of a cloud, by commands that import no database."""

import os
import shutil

from nova_lite import exception
from nova_lite.launcher import layout
from nova_lite.launcher import state_dir

# A directory without this file is none of a cloud.
SECRETS = 'secrets.json'


def delete(directory):
    """Delete the state directory of a cloud that has stopped. Raise Invalid, InUse, Unavailable."""
    state_dir.existing(directory, SECRETS)
    places = layout.Layout(layout.Settings(state_dir=directory))
    places.hold()
    try:
        if os.path.exists(places.path('etc', 'control.conf')):
            _require_files(directory)
        try:
            shutil.rmtree(places.root)
        except OSError as error:
            raise exception.Unavailable(
                service=f'The state directory {places.root}',
                reason=f'{error}. Correct this and repeat the command',
            ) from error
    finally:
        places.release()


def _require_files(directory):
    """Raise Invalid if the databases of a cloud are not files of its state directory."""
    if not state_dir.control_conf(directory).api_database.connection.startswith('sqlite:'):
        raise exception.Invalid(
            reason=f'the databases of the cloud in {directory} are on a server (--db), where they would '
            'be left. Delete them there, and then the directory'
        )
