"""Config drives of the simulated guests of a cloud, from the files of its hosts."""

import glob
import os
import pathlib
import sys

from nova_lite import exception
from nova_lite.lab import server_names
from nova_lite.lab.console import output
from nova_lite.lab.launcher import deployed_files
from nova_lite.metadata import drive
from nova_lite.terminal import text_tables
from nova_lite.virt.sim import census


class NoConfigDrive(exception.NotFound):
    msg = (
        'Server %(uuid)s has no guest with a config drive. '
        'Use a server that was created with one and has been built.'
    )


def find(cloud, server):
    """Return {path: content} of a server's config drive. Raise InstanceNotFound, NoConfigDrive."""
    with server_names.cells_of(cloud.conf()) as cells:
        uuid = server_names.uuid_of(cells, server)
    for path in _guests(cloud):
        packed = census.drive(path, uuid)
        if packed is not None:
            return drive.unpack(packed)
    raise NoConfigDrive(uuid=uuid)


def _guests(cloud):
    """Return the paths of the files of guests that can be read here."""
    if cloud.deployed:
        found = deployed_files.computes(cloud.directory)
        return [each.guests for each in found if each.is_readable()]
    return sorted(glob.glob(os.path.join(cloud.directory, 'guests', '*', 'guests.sqlite')))


def show(files, *, as_json):
    """Print the paths and sizes of the files of a drive."""
    sizes = [{'path': path, 'bytes': len(files[path])} for path in sorted(files)]
    output.show(sizes, _show, as_json=as_json)


def _show(sizes):
    text_tables.show(('path', 'bytes'), [each.values() for each in sizes])


def print_file(files, path):
    """Write the content of a file of a drive to standard output. Raise Invalid without it."""
    if path not in files:
        raise exception.Invalid(reason=f'the config drive has no file {path}')
    sys.stdout.buffer.write(files[path])
    sys.stdout.flush()


def write(files, path):
    """Write the files of a drive below a new directory. Raise Invalid if it exists.

    Only their owner may read them: they contain the administrator's password.
    """
    directory = pathlib.Path(path)
    try:
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise exception.Invalid(reason=f'cannot create {directory}: {error.strerror}') from error
    for name, content in files.items():
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
