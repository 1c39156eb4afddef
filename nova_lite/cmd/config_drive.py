"""nova-lite config-drive: show the config drive of a server as its guest would find it.

The command reads the files of the simulated hosts and asks no daemon. Without PATH it lists
the files of the drive with their sizes in bytes.
"""

import glob
import os
import pathlib
import sys

from nova_lite import exception
from nova_lite.console import tables
from nova_lite.launcher import server_names
from nova_lite.launcher import state_dir
from nova_lite.metadata import drive
from nova_lite.virt.sim import census


class NoConfigDrive(exception.NotFound):
    msg = 'Server %(uuid)s has no guest with a config drive.'


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'config-drive', help='show the config drive of a server', description=__doc__
    )
    state_dir.add_option(parser)
    parser.add_argument('server', metavar='SERVER', help='uuid or name of the server')
    parser.add_argument('path', metavar='PATH', nargs='?', help='print only this file')
    parser.add_argument(
        '--write', metavar='DIR', help='write all files below DIR, which must not exist'
    )
    parser.set_defaults(run=run)


def find(directory, server):
    """Return {path: content} of a server's config drive. Raise InstanceNotFound, NoConfigDrive."""
    with server_names.cells_of(state_dir.control_conf(directory)) as cells:
        uuid = server_names.uuid_of(cells, server)
    for path in sorted(glob.glob(os.path.join(directory, 'guests', '*', 'guests.sqlite'))):
        packed = census.drive(path, uuid)
        if packed is not None:
            return drive.unpack(packed)
    raise NoConfigDrive(uuid=uuid)


def run(args):
    """Print or write the drive and return 0."""
    files = find(args.state_dir, args.server)
    if args.path is not None:
        _print(files, args.path.strip('/'))
    elif args.write is None:
        tables.show(('path', 'bytes'), [[path, str(len(files[path]))] for path in sorted(files)])
    if args.write is not None:
        _write(files, pathlib.Path(args.write))
    return 0


def _print(files, path):
    if path not in files:
        raise exception.Invalid(reason=f'the config drive has no file {path}')
    sys.stdout.buffer.write(files[path])
    sys.stdout.flush()


def _write(files, directory):
    """Write the files for their owner alone: they hold the administrator's password."""
    try:
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise exception.Invalid(reason=f'cannot create {directory}: {error.strerror}') from error
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
