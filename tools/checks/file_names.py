"""File names of the product that once stood for several things, and the subject of each now.

Other names may occur in several packages: those are layers of one subject, such as `servers`.
"""

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
    'embedded': ('launcher',),
    'engine': ('saga',),
    'events': ('cmd',),
    'facts': ('virt/sim',),
    'formats': ('api',),
    'groups': ('scheduler',),
    'guard': ('private_apis',),
    'jobs': ('virt/sim',),
    'listing': ('timeline',),
    'live': (),
    'make': ('launcher',),
    'metadata': ('cmd', 'conf', 'daemons'),
    'moving': ('bench',),
    'profile': ('virt/sim',),
    'progress': ('saga',),
    'reader': ('verify',),
    'report': ('maintenance',),
    'request': ('api',),
    'resources': ('simcloud',),
    'rules': ('virt/sim',),
    'service': ('',),
    'sharing': (),
    'show': ('api/servers',),
    'snapshot': ('api/servers', 'cmd', 'moves/parts'),
    'snapshots': ('api/proxies', 'simcloud/volume'),
    'storage': ('simcloud',),
    'transfers': ('simcloud/volume',),
    'watch': ('notify',),
    'work': (),
}
TOP = 'nova_lite/'


def check(source):
    """Yield a problem if the file's name stands for something else elsewhere."""
    path = pathlib.PurePosixPath(source.path)
    if not str(path).startswith(TOP) or path.suffix != '.py' or path.stem not in ONLY:
        return
    directory = str(path.parent)[len(TOP) :]
    if directory not in ONLY[path.stem]:
        yield checks.Problem(
            source.path, 1, f'{path.stem}: this name stands for another subject. Choose its own'
        )
