"""Config drives of the simulated guests of a cloud, from the files of its hosts."""

import glob
import os
import pathlib
import sys
import typing

from nova_lite import exception
from nova_lite.lab import server_names
from nova_lite.lab.console import output
from nova_lite.lab.launcher import deployed_files
from nova_lite.lab.launcher import which_cloud
from nova_lite.metadata import drive
from nova_lite.terminal import text_tables
from nova_lite.virt.sim import census

# {path in a config drive: content}
Files: typing.TypeAlias = dict[str, bytes]


class NoConfigDrive(exception.NotFound):
    msg = (
        'Server %(uuid)s has no guest with a config drive. '
        'Use a server that was created with one and has been built.'
    )


def find(cloud: which_cloud.Cloud, server: str) -> Files:
    """Return the files in the config drive of a server. Raise InstanceNotFound, NoConfigDrive."""
    with server_names.cells_of(cloud.conf()) as cells:
        uuid = server_names.uuid_of(cells, server)
    for path in _guests(cloud):
        packed = census.drive(path, uuid)
        if packed is not None:
            return drive.unpack(packed)
    raise NoConfigDrive(uuid=uuid)


def _guests(cloud: which_cloud.Cloud) -> list[str]:
    """Return the paths of the files with guests that this user can read."""
    if cloud.deployed:
        found = deployed_files.computes(cloud.directory)
        return [each.guests for each in found if each.is_readable()]
    return sorted(glob.glob(os.path.join(cloud.directory, 'guests', '*', 'guests.sqlite')))


def show(files: Files, *, as_json: bool) -> None:
    """Print the path and the size of each file of a config drive."""
    sizes: list[dict[str, str | int]] = [
        {'path': path, 'bytes': len(files[path])} for path in sorted(files)
    ]
    output.show(sizes, _show, as_json=as_json)


def _show(sizes: list[dict[str, str | int]]) -> None:
    text_tables.show(('path', 'bytes'), [tuple(each.values()) for each in sizes])


def print_file(files: Files, path: str) -> None:
    """Write the content of a file of a config drive to standard output. Raise Invalid."""
    if path not in files:
        raise exception.Invalid(reason=f'the config drive has no file {path}')
    sys.stdout.buffer.write(files[path])
    sys.stdout.flush()


def write(files: Files, path: str) -> None:
    """Write the files of a config drive to a new directory. Raise Invalid if it exists.

    Only the owner can read the directory: the files contain the password of the administrator.
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
