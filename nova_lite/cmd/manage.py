"""nova-lite-manage: the operator's command, with nova-manage's verbs and exit codes.

Each module of `nova_lite.manage` declares its verbs with `command.verb`.
"""

import argparse
from collections.abc import Sequence
import functools
import importlib
import pkgutil
import sys
import traceback

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import manage as verbs_package
from nova_lite.lab.console import arguments
from nova_lite.lab.console import messages
from nova_lite.lab.console import output
from nova_lite.lab.console import programs
from nova_lite.lab.launcher import operators_files
from nova_lite.manage import command

PROG = 'nova-lite-manage'
CATEGORIES = {
    'api_db': 'the API database',
    'db': 'the databases of cells',
    'cell_v2': 'cells and the mappings of hosts and servers',
    'placement': 'aggregates and allocations in placement',
    'image_property': 'properties of images that servers have on record',
    'libvirt': 'machine types that servers have on record',
    'limits': 'limits of quotas',
    'volume_attachment': 'attachments of volumes that servers have on record',
}
FAILED, INTERRUPTED = 255, programs.INTERRUPTED


@functools.cache
def parser() -> arguments.Parser:
    """Return the argument parser with every verb, made once: parsing does not change it."""
    for module in pkgutil.iter_modules(verbs_package.__path__):
        importlib.import_module(f'{verbs_package.__name__}.{module.name}')
    top = arguments.Parser(prog=PROG, description='Manage a nova_lite deployment.')
    top.add_argument(
        '--config-file',
        action='append',
        default=[],
        metavar='PATH',
        help='configuration file of a control daemon; may be repeated',
    )
    top.add_argument(
        '--config-dir',
        action='append',
        default=[],
        metavar='DIR',
        help='directory of configuration files; of one with control.conf, only the files of the '
        'control daemons are read',
    )
    top.add_argument(
        '--state-dir',
        type=arguments.directory,
        metavar='DIR',
        help='state directory of a cloud of `nova-lite up` (default: as for `nova-lite`, except '
        'that files in the usual directories come before the default state directory)',
    )
    categories = top.add_subparsers(dest='category', required=True, metavar='CATEGORY')
    for name, text in CATEGORIES.items():
        category = categories.add_parser(name, help=text)
        verbs = category.add_subparsers(dest='verb', required=True, metavar='VERB')
        for verb in command.VERBS[name]:
            verb.add_to(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code, 255 after an unexpected error."""
    args = parser().parse_args(sys.argv[1:] if argv is None else argv)
    try:
        with command.Deployment(_conf(args)) as deployment:
            code: int = args.run(deployment, args)
            return code
    except exception.NovaLiteError as error:
        print(f'{PROG}: {messages.of(error)}', file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        output.discard()
        return output.UNREAD
    except Exception as error:
        text = messages.of_library(error)
        if text is not None:
            print(f'{PROG}: {text}', file=sys.stderr)
        else:
            # Python's own exit code is 1, by which archive_deleted_rows asks to be run again.
            traceback.print_exc()
        return FAILED


def _conf(args: argparse.Namespace) -> cfg.ConfigOpts:
    """Return the configuration that the arguments mean, and print which."""
    found = operators_files.find(
        PROG, directory=args.state_dir, files=args.config_file, dirs=args.config_dir
    )
    print(found.text, file=sys.stderr, flush=True)
    if found.files is not None:
        return conf_module.make_conf(files=found.files, prog=PROG)
    given = [f'--config-file={path}' for path in args.config_file]
    given += [f'--config-dir={path}' for path in args.config_dir]
    return conf_module.make_conf(given, prog=PROG)


def program() -> int:
    """Run the verb that the arguments of the process name. Return its exit code."""
    return programs.run(main, name=PROG, failed=FAILED)


if __name__ == '__main__':
    sys.exit(program())
