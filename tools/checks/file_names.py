"""File names of the product that once stood for several things, and where each may be used now.

Names in neither table may occur in several packages. Most of them are layers of one subject,
such as `servers`; others are the role of a module in its package, such as `base`, `tables` or
`routes`. The check does not find out what a module is about: a reviewer who finds a name
with two subjects renames one module and adds the name to a table.
"""

from collections.abc import Iterator
import pathlib

from tools import checks

# {name: directories in which it stands for one subject}
ONLY = {
    'actions': ('db/cell',),
    'bounds': ('db',),
    'bus': ('cmd',),
    'claims': ('compute',),
    'cleaning': ('saga',),
    'copies': ('db/cell',),
    'embedded': ('lab/launcher',),
    'engine': ('saga',),
    'events': ('cmd',),
    'facts': ('virt/sim',),
    'formats': ('api',),
    'groups': ('scheduler',),
    'guard': ('private_apis',),
    'jobs': ('virt/sim',),
    'limits': ('api',),
    'listing': ('lab/timeline',),
    'live': (),
    'make': ('lab/launcher',),
    'metadata': ('cmd', 'conf', 'daemons'),
    'moving': ('lab/bench',),
    'profile': ('virt/sim',),
    'progress': ('saga',),
    'reader': ('verify',),
    'report': ('lab/maintenance',),
    'request': ('api',),
    'resources': ('simcloud',),
    'rules': ('virt/sim',),
    'service': (),
    'sharing': (),
    'show': ('api/servers',),
    'snapshot': ('cmd',),
    'snapshots': ('api/proxies', 'simcloud/volume'),
    'storage': ('simcloud',),
    'transfers': ('simcloud/volume',),
    'types': ('db',),
    'watch': ('notify',),
    'work': (),
}
# {name: {directory: its subject there}}: names that stand for two subjects, since others import
# or type them.
SEVERAL = {
    # The entry point nova-lite of oslo.messaging.drivers is rpc/driver.py; installed packages and
    # transport URLs have it. virt/driver.py has nova's name.
    'driver': {'rpc': 'oslo.messaging', 'virt': 'hypervisors', 'virt/sim': 'hypervisors'},
    # A command's module has the command's name.
    'list': {'api/servers': 'servers', 'cmd': 'embedded clouds'},
}
TOP = 'nova_lite/'


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem if the file's name stands for something else elsewhere."""
    path = pathlib.PurePosixPath(source.path)
    if not str(path).startswith(TOP) or path.suffix != '.py':
        return
    directory = str(path.parent)[len(TOP) :]
    allowed = ONLY.get(path.stem, SEVERAL.get(path.stem))
    if allowed is not None and directory not in allowed:
        yield checks.Problem(
            source.path, 1, f'{path.stem}: this name stands for another subject. Choose its own'
        )
