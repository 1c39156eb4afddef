"""The virtual environment of nova, and the versions of all compared programs."""

import os
import pathlib
import platform
import re
import subprocess
import sys

from tests.fixtures import servers

TOP = pathlib.Path(__file__).parents[2]
REQUIREMENTS = TOP / 'tools/requirements/nova.txt'
ASK = 'import importlib.metadata as m, sys; print(*(m.version(name) for name in sys.argv[1:]))'
_NUMBER = re.compile(r'\d+\.\d+[.\d]*')


def prepare(directory: str) -> None:
    """Install nova in a virtual environment, unless one with it exists there."""
    if os.path.exists(os.path.join(directory, 'bin', 'nova-conductor')):
        return
    subprocess.run([sys.executable, '-m', 'venv', directory], check=True)
    pip = os.path.join(directory, 'bin', 'pip')
    subprocess.run([pip, 'install', '--quiet', '-r', str(REQUIREMENTS)], check=True)


def versions(directory: str) -> dict[str, str]:
    """Return {program: version} of the environment, of our own placement and of the servers."""
    nova, placement = _run(
        f'{directory}/bin/python', '-c', ASK, 'nova', 'openstack-placement'
    ).split()
    (ours,) = _run(sys.executable, '-c', ASK, 'openstack-placement').split()
    return {
        'nova': nova,
        'nova_lite': _run('git', '-C', str(TOP), 'describe', '--always', '--dirty').strip(),
        "nova's placement": placement,
        "nova_lite's placement": ours,
        'Python': platform.python_version(),
        'RabbitMQ': _number(_run(servers.find_program('rabbitmqctl'), 'version')),
        'MariaDB': _number(_run(servers.find_program('mariadbd'), '--version')),
    }


def machine() -> str:
    """Return a phrase that describes the machine."""
    with open('/proc/cpuinfo') as file:
        model = cpu_model(file.read())
    with open('/proc/meminfo') as file:
        memory_gib = int(file.readline().split()[1]) / 1024**2
    return f'{os.cpu_count()} cores ({model}), {memory_gib:.0f} GiB, Linux {platform.release()}'


def cpu_model(text: str) -> str:
    """Return the name of the first processor of /proc/cpuinfo."""
    found = re.search(r'^model name\s*: (.*)$', text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _number(text: str) -> str:
    found = _NUMBER.search(text)
    if found is None:
        raise ValueError(f'There is no version in {text!r}')
    return found[0]


def _run(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
