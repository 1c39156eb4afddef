"""Write nova_lite/manage/nova_options.json: the options of an installed nova, without their texts.

  python -m tools.nova_options

asks the generator of sample files of nova, which is installed as for tools.compare_with_nova.
`nova-lite-status config check` reads the file.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import typing

from tools.comparison import environment

FILE = environment.TOP / 'nova_lite' / 'manage' / 'nova_options.json'
# The entry points whose options a nova.conf may set.
NAMESPACES = (
    'castellan.config',
    'keystonemiddleware.auth_token',
    'nova.conf',
    'os_vif',
    'oslo.cache',
    'oslo.concurrency',
    'oslo.db',
    'oslo.limit',
    'oslo.log',
    'oslo.messaging',
    'oslo.middleware',
    'oslo.policy',
    'oslo.privsep',
    'oslo.reports',
    'oslo.service.periodic_task',
    'oslo.service.service',
    'oslo.service.wsgi',
    'oslo.versionedobjects',
    'osprofiler',
)


def generate(directory: str) -> dict[str, typing.Any]:
    """Return the answer of oslo-config-generator in an environment with nova."""
    command = [os.path.join(directory, 'bin', 'oslo-config-generator'), '--format', 'json']
    for name in NAMESPACES:
        command += ['--namespace', name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, typing.Any] = json.loads(done.stdout)
    return found


def table(generated: dict[str, typing.Any]) -> dict[str, dict[str, typing.Any]]:
    """Return {group: {option: default}}; a former name of an option has the text "-> [G]NAME"."""
    found: dict[str, dict[str, typing.Any]] = {}
    for group, section in generated['options'].items():
        for option in section['opts']:
            sample = option.get('sample_default')
            value = option['default'] if sample is None else sample
            found.setdefault(group, {})[option['dest']] = value
    for group, formers in generated['deprecated_options'].items():
        for former in formers:
            name = former['name'].replace('-', '_')
            today = '-> [%(replacement_group)s]%(replacement_name)s' % former
            found.setdefault(group, {}).setdefault(name, today)
    return found


def write(path: pathlib.Path, directory: str) -> None:
    """Write the file."""
    version = environment.versions(directory)['nova']
    content = {'nova': version, 'options': table(generate(directory))}
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + '\n')


def main() -> int:
    """Write the file. Return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    args = parser.parse_args()
    environment.prepare(args.environment)
    write(FILE, args.environment)
    return 0


if __name__ == '__main__':
    sys.exit(main())
