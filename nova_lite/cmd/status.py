"""nova-lite-status: check a deployment before an upgrade, or a configuration of nova.

Exit codes of `upgrade check`: 0 ready; 1 ready, with warnings; 2 not ready. Of `config check`: 0
each setting works; 1 a setting has no effect; 2 a value is refused, or a file cannot be read; 141
the reader of the output has ended. Of both: 255 after an unexpected error.
"""

import json
import logging
import sys
import typing

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.console import programs
from nova_lite.lab.launcher import operators_files
from nova_lite.manage import config_check
from nova_lite.manage import upgrade_checks

PROG = 'nova-lite-status'
REFUSED, INTERRUPTED, FAILED = 2, programs.INTERRUPTED, 255
STATE_DIR = cfg.StrOpt(
    'state-dir', metavar='DIR', help='state directory of a cloud of `nova-lite up`'
)


def main(argv: list[str] | None = None) -> int:
    """Run the checks. Return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    conf = cfg.ConfigOpts()
    conf_module.register_all(conf)
    checks = upgrade_checks.Checks(conf)
    conf.register_cli_opt(STATE_DIR)
    conf.register_cli_opt(
        cfg.SubCommandOpt('command', handler=lambda made: _add(made, conf, checks))
    )
    # The library reads the option --json there.
    upgradecheck.CONF = conf
    # The result says which options have other names.
    logging.getLogger('oslo_config').setLevel(logging.ERROR)
    try:
        # Only the files that options name.
        conf(argv, project='nova-lite', prog=PROG, default_config_files=[], default_config_dirs=[])
        if conf.command.name == 'upgrade':
            _read(conf, argv)
        return upgradecheck.run(conf)
    except KeyboardInterrupt:
        return INTERRUPTED
    except exception.NovaLiteError as error:
        print(f'{PROG}: {messages.of(error)}', file=sys.stderr)
        return FAILED
    except cfg.Error as error:
        print(f'{PROG}: {messages.of_library(error)}', file=sys.stderr)
        return FAILED
    finally:
        checks.close()


def _read(conf: cfg.ConfigOpts, argv: list[str]) -> None:
    """Read the files of the cloud that the arguments mean, and print which cloud."""
    found = operators_files.find(
        PROG, directory=conf.state_dir, files=conf.config_file or (), dirs=conf.config_dir or ()
    )
    print(found.text, file=sys.stderr, flush=True)
    if found.files is not None:
        argv = ['upgrade', 'check', *(['--json'] if conf.command.json else [])]
    conf(
        argv,
        project='nova-lite',
        prog=PROG,
        default_config_files=found.files,
        default_config_dirs=None if found.files is None else [],
    )


def _add(subparsers: typing.Any, conf: cfg.ConfigOpts, checks: upgrade_checks.Checks) -> None:
    upgrade = subparsers.add_parser('upgrade', help='check whether an upgrade can begin')
    upgrade.add_argument('verb', choices=('check',))
    upgrade.set_defaults(action_fn=checks.check)
    config = subparsers.add_parser('config', help='say what each option of a nova.conf does here')
    config.add_argument('verb', choices=('check',))
    config.add_argument('file', nargs='+', help='configuration files, in order')
    config.set_defaults(action_fn=lambda: _check_config(conf))
    for parser in (upgrade, config):
        parser.add_argument('--json', action='store_true', help='print JSON')


def _check_config(conf: cfg.ConfigOpts) -> int:
    """Print the effect of each setting of files. Return the exit code."""
    try:
        files = config_check.Files(conf.command.file)
    except OSError as error:
        print(f'{PROG}: {error.filename}: {error.strerror}', file=sys.stderr)
        return REFUSED
    except cfg.Error as error:
        print(f'{PROG}: {error}', file=sys.stderr)
        return REFUSED
    if conf.command.json:
        print(json.dumps(config_check.document(files), indent=2, default=str))
    else:
        for line in config_check.lines(files):
            print(line)
    return config_check.code(files.findings)


def program() -> int:
    """Run the checks that the arguments of the process name. Return the exit code."""
    return programs.run(main, name=PROG, failed=FAILED)


if __name__ == '__main__':
    sys.exit(program())
